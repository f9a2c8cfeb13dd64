from __future__ import annotations

from drayman.cli.output import plain_table


def test_plain_table_aligns_columns_and_puts_lines_of_a_cell_below_each_other() -> None:
    table = plain_table(("NAME", "DEVICES"), [("a", "gpu-0\ngpu-1"), ("longer", "gpu-2")])
    assert table == "\n".join(
        [
            "NAME     DEVICES",
            "a        gpu-0",
            "         gpu-1",
            "longer   gpu-2",
        ]
    )
