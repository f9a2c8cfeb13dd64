"""How long the command line takes from its start to its end, and how many modules it imports for that.

`python -X importtime -m drayman …` says where the time goes. Processor time stands below: on a machine with other work
it says more.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from hack.benchmarks.figure import Figure
from hack.benchmarks.measure import Bench
from hack.benchmarks.objects import GPU, claim, device_class, gpu, request, resource_slice

COMMANDS = ("--help", "devices --help", "devices FILE", "claims FILE", "allocate FILE")
AT_MOST = 0.15
COUNT = """\
import contextlib, io, sys
from drayman.cli import main
with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
    main(sys.argv[1:])
print(len(sys.modules))
"""


def figures(bench: Bench) -> Iterator[Figure]:
    """Yield the figures."""
    objects = [
        device_class(),
        resource_slice("n", GPU, [gpu(0, index) for index in range(8)], nodeName="n"),
        claim([request("gpu")]),
    ]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "cluster.json"
        file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
        yield Figure("start of Python alone", bench.time(run, lambda: ["-c", "pass"])[0])
        for command in COMMANDS:
            arguments = command.replace("FILE", str(file)).split()
            before = processor_seconds()
            seconds, _ = bench.time(run, lambda arguments=arguments: ["-m", "drayman", *arguments])
            used = (processor_seconds() - before) / bench.repeats
            modules = int(run(["-c", COUNT, *arguments]))
            yield Figure(f"drayman {command} ({modules} modules)", seconds, at_most=AT_MOST)
            yield Figure("  processor time", used)


def run(arguments: Sequence[str]) -> str:
    """Run Python to its end and return what it printed."""
    return subprocess.run([sys.executable, *arguments], stdout=subprocess.PIPE, text=True, check=True).stdout


def processor_seconds() -> float:
    """Return the processor time of all processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
