"""Record what the real server answers: `python -m tests.parity.record` (needs the programs of `hack/controlplane`)."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from tests.parity import servers
from tests.parity.api import sequences

FOLDER = Path(__file__).parent / "recorded"


def recorded(group: str) -> dict[str, Any]:
    """Return the recorded answers of a group of sequences, by sequence."""
    loaded: dict[str, Any] = json.loads((FOLDER / f"{group}.json").read_text())
    return loaded


async def record() -> None:
    async with servers.real() as transport:
        for group, members in sequences().items():
            answers = {name: await servers.answers(transport, name, one) for name, one in members.items()}
            (FOLDER / f"{group}.json").write_text(dump(answers))


def dump(answers: dict[str, Any]) -> str:
    """Return answers as JSON, one a line, so that changes can be read."""
    parts = []
    for name in sorted(answers):
        lines = [f"  {json.dumps(answer, sort_keys=True, ensure_ascii=False)}" for answer in answers[name]]
        parts.append(f" {json.dumps(name)}: [\n" + ",\n".join(lines) + "\n ]")
    return "{\n" + ",\n".join(parts) + "\n}\n"


if __name__ == "__main__":
    asyncio.run(record())
