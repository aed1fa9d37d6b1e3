"""The benchmarks run. What they measure is not asserted: tests share their machine."""

from __future__ import annotations

import json
import platform
from pathlib import Path

import pytest
from driving import LONG

from benchmarks import __main__ as runner
from benchmarks import recalling
from benchmarks.measure import Ratio, medians_s

SOME = () if LONG else ("hooking", "decoding", "ledger", "merging")
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


def test_work_is_measured_by_turns_and_the_first_turn_is_thrown_away() -> None:
    told: list[str] = []
    times = {"a": iter([9.0, 1.0, 3.0, 2.0]), "b": iter([9.0, 4.0, 4.0, 5.0])}

    def work(name: str) -> float:
        told.append(name)
        return next(times[name])

    found = medians_s(3, a=lambda: work("a"), b=lambda: work("b"))
    assert found == {"a": 2.0, "b": 4.0}
    assert told == ["a", "b"] * 4


@pytest.mark.parametrize(
    ("ratio", "bound", "met"),
    [(2.9, 3, True), (3.0, 3, True), (3.1, 3, False), (99.0, None, True)],
)
def test_a_ratio_above_its_bound_is_a_miss(ratio: float, bound: float | None, met: bool) -> None:
    found = Ratio(name="x", ratio=ratio, bound=bound, count=1, turns=1)
    assert found.met is met
    assert ("missed" in runner.table([found])) is not met


def test_a_name_that_is_no_benchmark_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        runner.main(["nothing"])
    assert "no such benchmark: nothing" in capsys.readouterr().err


def test_a_scan_returns_the_texts_that_hold_most_words() -> None:
    texts = ["a lamp", "the lamp of the harbour", "nothing", *["a gate"] * 20]
    found = recalling.scan(texts, ["lamp", "harbour"])
    assert found[:2] == ["the lamp of the harbour", "a lamp"]
    assert len(found) == 10
