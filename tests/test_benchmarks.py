"""The benchmarks run. What they measure is not asserted: tests share their machine."""

from __future__ import annotations

import json
import platform
from pathlib import Path

import pytest
from driving import LONG

from benchmarks import __main__ as runner

SOME = () if LONG else ("hooking", "decoding")
"""Which run where not all of them do."""
KEYS = {"name", "ratio", "bound", "count", "turns", "met"}


def test_benchmarks_run_on_tiny_sizes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "results.json"
    assert runner.main(["--quick", "--out", str(out), *SOME]) == 0
    record = json.loads(out.read_text(encoding="utf-8"))
    assert set(record) == {"versions", "ratios"}
    assert all(set(ratio) == KEYS and ratio["ratio"] > 0 for ratio in record["ratios"])
    shown = capsys.readouterr().out
    assert [r["name"] for r in record["ratios"] if r["name"] not in shown] == []
    kept = json.loads(runner.RESULTS.read_text(encoding="utf-8"))
    names = [dict.fromkeys(r["name"] for r in one["ratios"]) for one in (kept, record)]
    assert [name for name in names[0] if LONG or name in names[1]] == list(names[1])


def test_the_record_holds_ratios_and_versions_and_no_machine() -> None:
    text = runner.RESULTS.read_text(encoding="utf-8")
    record = json.loads(text)
    assert set(record["versions"]) == {"git", "memrepo", "python"}
    assert all(set(ratio) == KEYS for ratio in record["ratios"])
    assert platform.node() not in text


def test_a_name_that_is_no_benchmark_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        runner.main(["nothing"])
    assert "no such benchmark: nothing" in capsys.readouterr().err
