"""The benchmark that leaves one workspace out counts every labelled line, and learns from none of
that workspace's own."""

import json
from pathlib import Path

import pytest

from benchmarks.lasting import Row, kept_of, main, rows


def row(keep: str, strength: float, workspace: str = "other") -> Row:
    return Row(workspace=workspace, keep=keep, judged=True, strength=strength)


def test_the_least_strength_is_found_on_the_other_workspaces() -> None:
    train = [row("durable", 1.8), row("durable", 1.6), row("noise", 1.2), row("noise", 0.9)]
    test = [row("durable", 1.3, "own"), row("noise", 1.9, "own")]
    assert kept_of(train, test) == [test[1]]


def test_a_line_that_no_candidate_holds_is_not_kept() -> None:
    train = [row("durable", 1.8), row("noise", 0.6)]
    assert kept_of(train, [Row(workspace="own", keep="durable", strength=3.0)]) == []


def test_the_table_has_a_row_for_each_workspace_and_counts_every_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for part in ("units", "labels"):
        (tmp_path / part).mkdir()
    for name in ("one", "two"):
        folder = tmp_path / "workspaces" / name
        (folder / "memory").mkdir(parents=True)
        (folder / "MEMORY.md").write_text("## Rules\n\n- Never deploy on a Friday.\n")
        (folder / "memory" / "2026-03-01.md").write_text(
            "# 2026-03-01\n\n- Invoices must carry the order number.\n- Fixed the date parser.\n"
        )
        units = [("MEMORY.md", 3), ("memory/2026-03-01.md", 3), ("memory/2026-03-01.md", 4)]
        units += [("AGENTS.md", 3)]
        keep = ("durable", "durable", "dated", "durable")
        said = [json.dumps({"id": n, "file": f, "lines": [a, a]}) for n, (f, a) in enumerate(units)]
        (tmp_path / "units" / f"{name}.jsonl").write_text("\n".join(said))
        told = [json.dumps({"id": n, "keep": label}) for n, label in enumerate(keep)]
        (tmp_path / "labels" / f"{name}.jsonl").write_text("\n".join(told))
    places = [tmp_path / part for part in ("workspaces", "units", "labels")]

    found = list(rows(*places))
    main([str(place) for place in places])

    table = capsys.readouterr().out.splitlines()[-3:]
    assert [r.judged for r in found] == [True, True, True, False] * 2
    assert [line.split()[0] for line in table] == ["one", "two", "all"]
    assert table[-1].split()[5:] == ["0.80", "0.67", "0.00", "0.00"]  # in use: F1, recall, ...
