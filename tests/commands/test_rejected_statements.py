"""A rejection binds statements wherever a text is cut, a correction in whichever file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from driving import LATER, NEXT_DAY, assert_sound, done, git, memories, memrepo

DAY_3, DAY_4 = "2026-03-03T09:00:00Z", "2026-03-04T09:00:00Z"
SAID = "The boat shed is locked with a brass padlock."
KEYED = "- **Rower:** Ilse"
START = f"# Memory\n\n## Club\n\n- {SAID}\n\n## Crew\n\n{KEYED}\n\n## Staff\n\n- **Coach:** Ove\n"


def place(base: Path, name: str, text: str) -> None:
    path = base / "workspace" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """Return a repository of three memories of which two were rejected."""
    place(tmp_path, "MEMORY.md", START)
    done(tmp_path, "init", "repo", "--from", "workspace")
    done(tmp_path / "repo", "run")
    for word in ("padlock", "Ilse"):
        (id_,) = [i for i, m in memories(tmp_path / "repo").items() if word in m.body]
        done(tmp_path / "repo", "reject", id_, "--reason", "it never was", now=LATER)
    return tmp_path / "repo"


def active(repo: Path) -> list[str]:
    return [m.body for m in memories(repo).values() if m.status == "active"]


def stating(repo: Path, *words: str) -> list[str]:
    """Return the active memories that have some words."""
    return [body for body in active(repo) if all(word in body for word in words)]


@pytest.mark.parametrize(
    ("name", "text", "rest"),
    [
        ("memory/a.md", f"# A\n\nThe pier is new. {SAID} It has a roof of slate.\n", "slate"),
        ("memory/b.md", f"# B\n\nThe pier is long;\n{SAID}\nIt was built in 1962.\n", "1962"),
        (
            "memory/c.md",
            "# C\n\nThe boat shed\nis locked with a **brass** padlock. It is on the north shore.\n",
            "north shore",
        ),
        ("memory/d.md", f"# D\n\n- The pier is long and grey. Note: {SAID}\n", "grey"),
        ("memory/e.md", f"# E\n\n> {SAID}\n\nMind the steps, they are slippery in May.\n", "May"),
        ("memory/2026-03-02.md", f"# 2026-03-02\n\nOve rang.\n- {SAID}\n- Rain all day.\n", "Rain"),
        ("memory/2026-03-02.md", f"# 2026-03-02\n\nOve rang.\n{KEYED}\n- Rain all day.\n", "Rain"),
        ("RTMEMORY.md", f"# Lessons\n\n- Check the oars first.\n  - {SAID}\n", "oars"),
        ("memory/g.md", "# G\n\n1. Unlock the gate.\n2. " + SAID + "\n3. Launch.\n", "Launch"),
    ],
)
def test_no_unit_of_any_file_brings_a_rejected_statement_back(
    repo: Path, name: str, text: str, rest: str
) -> None:
    place(repo.parent, name, text)
    answer = memrepo(repo, "run", now=DAY_3)
    assert answer.exit in (0, 3), answer
    assert not stating(repo, "padlock")
    assert not stating(repo, "Rower")
    waiting = git(repo, "for-each-ref", "--format=%(refname)", "refs/heads/run/").split()
    assert git(repo, "grep", rest, "HEAD", *waiting, "--", "memories"), "nothing else is lost"
    warned = [w for w in answer.data["warnings"] if w["rule"].startswith("rejected-")]
    alone = any(f"\n{mark} {SAID}" in text for mark in ("2.", "-", "  -", ">"))
    assert warned or alone, "what is left out of a larger unit is named"
    again = memrepo(repo, "run", now=DAY_3)
    assert not stating(repo, "padlock"), again
    assert_sound(repo)


def test_a_table_that_may_state_it_is_left_out_and_named_until_a_person_says_so(repo: Path) -> None:
    table = "# Boats\n\n| what | who |\n|---|---|\n| Rower | Ilse |\n| Cox | Dag |\n"
    place(repo.parent, "memory/f.md", table)
    answer = done(repo, "run", now=DAY_3)
    (warned,) = (w for w in answer["warnings"] if w["rule"] == "rejected-similar")
    assert not stating(repo, "Rower")
    assert "| Cox | Dag |" in (repo / "sources" / "memory" / "f.md").read_text()
    key = warned["message"].rpartition(" ")[2]
    assert f"`memrepo reject {key} --undo`" in warned["fix"]
    done(repo, "reject", key, "--undo", now=DAY_3)
    assert memrepo(repo, "run", "--mode", "reconciliation", now=DAY_3).exit == 3
    done(repo, "accept", now=DAY_3)
    assert stating(repo, "Rower", "Cox", "Dag")
    assert_sound(repo)


@pytest.mark.parametrize(
    "argv",
    [
        ("add", f"The pier is new. {SAID}"),
        ("add", "Nobody has seen it since May.", "--title", SAID),
        ("add", f"The pier is new.\n\n- {SAID}\n- It has a roof."),
        ("edit", "COACH", "--text", f"Ove coaches on Mondays. {SAID}"),
    ],
)
def test_a_single_write_that_holds_it_is_refused(repo: Path, argv: tuple[str, ...]) -> None:
    (coach,) = [i for i, m in memories(repo).items() if "Ove" in m.body]
    answer = memrepo(repo, *(coach if a == "COACH" else a for a in argv))
    assert answer.exit == 3
    assert "--undo" in answer.error["fix"]


def test_an_import_leaves_the_statement_out_and_keeps_the_rest(repo: Path, tmp_path: Path) -> None:
    place(tmp_path / "other", "memory/a.md", f"# A\n\nThe pier is new. {SAID} It is of slate.\n")
    done(tmp_path / "other", "init", "repo", "--from", "workspace")
    done(tmp_path / "other" / "repo", "run")
    done(tmp_path / "other" / "repo", "export", "jsonl", tmp_path / "out.jsonl")
    answer = done(repo, "import", "jsonl", tmp_path / "out.jsonl", now=DAY_3)
    assert not stating(repo, "padlock")
    assert stating(repo, "The pier is new. It is of slate.")
    (told,) = [p for p in answer["problems"] if p["rule"] == "rejected-left-out"]
    assert "the rest is imported" in told["message"]


# -- corrections ---------------------------------------------------------------------------------

OLD = "- I have a sister."


@pytest.fixture
def corrected(tmp_path: Path) -> Path:
    """Return a repository in which a person replaced what a line still states."""
    place(
        tmp_path, "MEMORY.md", f"# Memory\n\n## Family\n\n{OLD}\n- My uncle keeps bees in Bled.\n"
    )
    done(tmp_path, "init", "repo", "--from", "workspace")
    repo = tmp_path / "repo"
    done(repo, "run")
    (old,) = [i for i, m in memories(repo).items() if "sister" in m.body]
    done(repo, "supersede", old, "I do not have a sister.", now=NEXT_DAY)
    assert not stating(repo, "I have a sister")
    return repo


@pytest.mark.parametrize(
    ("name", "text", "rest"),
    [
        ("memory/people.md", f"# People\n\n{OLD}\n- My aunt lives in Graz.\n", "Graz"),
        (
            "memory/more.md",
            "# More\n\nThe house is old. I have a sister. The roof leaks.\n",
            "roof",
        ),
        ("memory/2026-02-11.md", f"# 2026-02-11\n\n{OLD}\n- The tram was late again.\n", "tram"),
    ],
)
def test_what_was_corrected_does_not_return_from_another_file(
    corrected: Path, name: str, text: str, rest: str
) -> None:
    place(corrected.parent, name, text)
    answer = memrepo(corrected, "run", now=DAY_3)
    claims = [m for m in memories(corrected).values() if m.type != "note"]
    assert not [m for m in claims if m.status == "active" and "I have a sister" in m.body]
    assert stating(corrected, "do not have a sister")
    assert stating(corrected, rest)
    (old,) = [m for m in claims if m.status == "superseded"]
    met = any(name in source.resource for source in old.sources)
    assert met or [w for w in answer.data["warnings"] if w["rule"] == "corrected-left-out"]
    memrepo(corrected, "run", "--mode", "reconciliation", now=DAY_4)
    assert memrepo(corrected, "accept", now=DAY_4).exit in (0, 2)
    done(corrected, "doctor", "--fix", now=DAY_4)
    assert not [h for h in done(corrected, "search", "sister", now=DAY_4)["hits"]
                if "I have a sister" in h["text"] and h.get("type") != "note"]  # fmt: skip


def test_one_line_of_a_memory_can_be_rejected(tmp_path: Path) -> None:
    done(tmp_path, "init", "repo")
    repo = tmp_path / "repo"
    card = "- **Rower:** Ilse\n- **Cox:** Dag\n- The oars are of spruce."
    id_ = done(repo, "add", card)["id"]
    unknown = memrepo(repo, "reject", id_, "--statement", "Rower: Pia", "--reason", "no")
    assert (unknown.exit, "has no statement" in unknown.error["message"]) == (2, True)
    argv = ("reject", id_, "--statement", "Rower: Ilse", "--reason", "she left")
    done(repo, *argv, now=LATER)
    assert active(repo) == ["- **Cox:** Dag\n- The oars are of spruce."]
    assert memrepo(repo, *argv, now=LATER).exit == 2, "it states that no more"
    (stone,) = done(repo, "reject", "--list")["rejected"]
    assert memrepo(repo, "add", card).exit == 3
    done(repo, "reject", "--undo", stone["key"], now=NEXT_DAY)
    done(repo, "edit", id_, "--text", card, now=NEXT_DAY)
    assert stating(repo, "Ilse")
    assert_sound(repo)


@pytest.mark.parametrize(
    "words",
    [
        "On Wednesdays, we always send the newsletter.",
        "The newsletter was always sent on a Wednesday.",
        "{}",
    ],
)
def test_what_was_rejected_is_offered_to_no_agent_in_other_words(
    tmp_path: Path, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = "We always send the newsletter on Wednesdays."
    kept = "The newsletter is set in Garamond by Ove."
    place(tmp_path, "MEMORY.md", f"# Memory\n\n- {said}\n- {kept}\n- Ove rows.\n")
    done(tmp_path, "init", "repo", "--from", "workspace")
    repo = tmp_path / "repo"
    done(repo, "run")
    (id_,) = [i for i, m in memories(repo).items() if m.body.strip() == said]
    place(tmp_path, "memory/2026-03-01.md", f"# 2026-03-01\n\nBo rang at noon.\n- {said}\n")
    done(repo, "run", now=LATER)
    told = memrepo(repo, "reject", id_, "--reason", "never", as_json=False, now=LATER).out
    ends = [line.split("  ")[-1].partition(" (")[2] for line in told.splitlines()[1:]]
    assert ends == ["", "the statement was taken out, the rest stays)"]
    line, near = words.format(said), "- We always send the newsletter on Mondays.\n"
    log = f"# 2026-03-02\n\n## Post\n\nBo has sent 40 copies of the newsletter today.\n- {line}\n"
    place(tmp_path, "memory/2026-03-02.md", log + near)
    done(repo, "run", now=NEXT_DAY)
    (note,) = [m for m in memories(repo).values() if m.is_note and "40 copies" in m.body]
    assert line in note.body or line == said  # a log is the record of its day
    begun = done(repo, "session", "show", now=NEXT_DAY)["context"]
    given = json.dumps(
        {"event": "prompt", "session": "s", "prompt": "newsletter Wednesdays copies"}
    )
    monkeypatch.setattr("sys.stdin.read", lambda: given, raising=False)
    offered = memrepo(repo, "agent", "hook", "generic", as_json=False, now=NEXT_DAY).out
    found = memrepo(repo, "search", "newsletter Wednesday", as_json=False, now=NEXT_DAY).out
    page = (repo / "MEMORY.md").read_text()
    assert [("Wednesday" in text) for text in (begun, offered, page, found)] == [False] * 4
    assert "Mondays" in found
    assert "40 copies" in begun
    assert "40 copies" in offered
