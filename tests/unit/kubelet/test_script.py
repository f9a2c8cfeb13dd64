from __future__ import annotations

import pytest

from drayman.testing.kubelet.script import FOREVER, Outcome, interpret

ENV = {"B": "2", "A": "1"}


@pytest.mark.parametrize(
    ("command", "outcome"),
    [
        (["sh", "-c", "env; sleep 60"], Outcome(60, 0, "A=1\nB=2\n")),
        (["/bin/bash", "-c", "nvidia-smi -L; sleep 9999"], Outcome(9999, 0, "")),
        (["sh", "-ec", 'echo "a; $A ${B} $C" && exit 3'], Outcome(None, 3, "a; 1 2 \n")),
        (["sleep", "9999"], Outcome(9999, 0, "")),
        (["sleep", "infinity"], Outcome(FOREVER, 0, "")),
        (["sleep", "2m"], Outcome(120, 0, "")),
        (["sh", "-c", "sleep 1\nsleep 5\nexit 0"], Outcome(1, 0, "")),
        (["sh", "-c", "while true; do echo x; sleep 5; done"], Outcome(FOREVER, 0, "x\n")),
        (["printenv", "A"], Outcome(None, 0, "1\n")),
        (["env"], Outcome(None, 0, "A=1\nB=2\n")),
        (["false"], Outcome(None, 1, "")),
        (["sh", "-c", "echo 'unfinished"], Outcome(None, 0, "'unfinished\n")),
        ([], Outcome(None, 0, "")),
    ],
)
def test_command_is_taken_for_what_it_says(command: list[str], outcome: Outcome) -> None:
    assert interpret(command, ENV) == outcome
