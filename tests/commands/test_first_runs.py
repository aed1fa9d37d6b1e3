"""A first run grows with the lines it takes in: twice as many lines are twice the work."""

from __future__ import annotations

import sys
from pathlib import Path
from types import FrameType
from typing import Any

from driving import LONG, done, files, memories

from memrepo.core import codec
from memrepo.core.memory import Memory

SIZES = (100, 200, 400) if LONG else (40, 80, 160)
VAULT = 6_600 if LONG else 60
FOOTER = "---\n\n- Copies of all pages are kept in the safe of the north wing."
WHO = ("Rosa", "Emil", "Nadia", "Otto", "Vera", "Hugo", "Ines", "Karl")
WHAT = ("lathe", "kiln", "anvil", "loom", "press", "saw", "drill", "bench", "crane", "forge")
DOES = ("oils", "paints", "rents", "sells", "mends", "moves", "locks")


def text(number: int, size: int) -> str:
    """Return one of so many statements; no two sizes share a text, for what is read is kept."""
    who, what, does = (words[number % len(words)] for words in (WHO, WHAT, DOES))
    return f"{who} {does} the {what} number {size}{number:04} of hall {number * 7 % 31}."


def workspace(path: Path, size: int) -> Path:
    """Write claims under headings, and a daily log."""
    lines = [f"- {text(number, size)}" for number in range(size)]
    for at in range(0, size, 10):
        lines.insert(at + at // 10, f"\n## Hall {size}, part {at}\n")
    path.mkdir()
    path.joinpath("MEMORY.md").write_text("\n".join(["# Memory", *lines, ""]))
    return path


def calls(base: Path, size: int) -> int:
    """Count the calls, of ours and of Python's own, that a first run makes."""
    repo, count = base / f"repo-{size}", 0
    done(base, "init", repo, "--from", workspace(base / f"ws-{size}", size))

    def counting(frame: FrameType, event: str, given: Any) -> None:
        nonlocal count
        del frame, given
        count += event in ("call", "c_call")

    sys.setprofile(counting)
    try:
        found = done(repo, "run")
    finally:
        sys.setprofile(None)
    assert found["counts"]["memories_new"] == size
    return count


def test_twice_as_many_lines_are_twice_the_calls(tmp_path: Path) -> None:
    calls(tmp_path, 20)  # modules, word lists and patterns are read once a process
    few, more, most = (calls(tmp_path, size) for size in SIZES)
    # What a run does once falls out of the differences: these are 2 for lines, 4 for pairs of them.
    assert most - more < 2.6 * (more - few)


def test_a_footer_of_every_file_is_one_memory_and_the_vault_stays_as_it_was(tmp_path: Path) -> None:
    vault = tmp_path / "vault" / "memory"
    vault.mkdir(parents=True)
    for number in range(VAULT):
        said = text(number, VAULT)
        vault.joinpath(f"page-{number}.md").write_text(f"# Page {number}\n\n- {said}\n\n{FOOTER}\n")
    before = files(tmp_path / "vault")
    done(tmp_path, "init", "repo", "--from", tmp_path / "vault")
    done(tmp_path / "repo", "run")
    bodies = [memory.body for memory in memories(tmp_path / "repo").values()]
    assert sum("north wing" in body for body in bodies) <= 1
    assert sum("number" in body for body in bodies) == VAULT
    assert files(tmp_path / "vault") == before


def test_a_memory_that_is_written_at_each_stage_is_spelled_and_read_back_once() -> None:
    memory = Memory(
        path="memories/knowledge/a-000000.md",
        fields={"id": "mem-" + 16 * "0", "type": "fact"},
        body="A.",
    )
    data, read = codec.written(memory)
    again = codec.written(memory)
    assert again[0] is data
    assert again[1] is read
    changed = memory.with_fields({"title": "Another"})
    assert codec.written(changed)[0] != data
