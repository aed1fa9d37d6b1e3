"""Sixty honest and sixty false operations in five languages: what code and a second question stop.

A truthful stand-in answers the second question, so a false operation passes only if code accepts
it and nobody is asked again.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from memrepo.core.memory import Memory
from memrepo.judge.checks import check, cite, needs_second_question
from memrepo.judge.documents import Document, pack
from memrepo.judge.interface import Operation

TABLE = Path(__file__).parent / "operations.txt"
MAX_HONEST_REFUSED, MIN_FALSE_STOPPED = 3, 57
MIN_STOPPED_BY_CODE = 9
"""What code stopped without any question when the checks were last changed: it must not fall."""


def judged(row: str) -> tuple[str, list[str], bool]:
    """Return the truth of a row, what code finds wrong, and whether it is asked once more."""
    truth, name, evidence, text, old, still = row.split("|")
    lines = tuple(evidence.split(" ¶ "))
    document = Document(
        resource="sources/notes.md",
        name="notes.md",
        kind="page",
        lines=lines,
        new=frozenset(range(1, len(lines) + 1)),
    )
    (batch,) = pack([document], 12_000)
    known = {"m1": Memory.of("memories/one.md", {"id": "mem-" + "0" * 16}, body=old.strip())}
    known = known if old else {}
    cited = cite(f"F1:1-{len(lines)}", batch)
    op = Operation(op=name, lines="", text=text, still=still, id="m1" if old else "")  # type: ignore[arg-type]
    return truth, check(op, cited, known, ()), needs_second_question(op, cited)


def test_honest_operations_pass_and_false_ones_are_stopped() -> None:
    rows = [r for r in TABLE.read_text("utf-8").splitlines() if not r.startswith("#")]
    assert Counter(row.partition("|")[0] for row in rows) == {"honest": 60, "false": 60}
    found = {row: judged(row) for row in rows}
    refused = {r: why for r, (truth, why, _) in found.items() if truth == "honest" and why}
    false = {row: one[1:] for row, one in found.items() if one[0] == "false"}
    by_code = [row for row, (why, _) in false.items() if why]
    passed = [row for row, (why, asked) in false.items() if not why and not asked]
    print(f"refused {len(refused)}, stopped by code {len(by_code)}, passed {len(passed)}")
    assert len(refused) <= MAX_HONEST_REFUSED, refused
    assert len(false) - len(passed) >= MIN_FALSE_STOPPED, passed
    assert len(by_code) >= MIN_STOPPED_BY_CODE, [row for row in false if row not in by_code]
