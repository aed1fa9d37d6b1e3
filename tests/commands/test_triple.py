"""What an edit of the text makes of the triple."""

from __future__ import annotations

from pathlib import Path

import pytest
from driving import LATER, done, memories

from memrepo.actions.write.change import triple_after
from memrepo.core.memory import Memory

GONE = {"predicate": None, "object": None}


def claim(body: str, subject: str = "", predicate: str = "", value: str = "") -> Memory:
    fields = {"type": "fact", "subject": subject, "predicate": predicate, "object": value}
    return Memory(path="a.md", body=body, fields={k: v for k, v in fields.items() if v})


EDITOR = claim("Editor: vim", "Tools", "Editor", "vim")
ANA = claim("Ana prefers tea.", "Ana", "prefers", "tea")


@pytest.mark.parametrize(
    ("memory", "text", "changes"),
    [
        (EDITOR, "Editor: helix", {"object": "helix"}),
        (EDITOR, "**Editor:** helix", {"object": "helix"}),
        (EDITOR, "**Shell:** fish", {"predicate": "Shell", "object": "fish"}),
        (EDITOR, "The editor is helix now.", GONE),
        (EDITOR, "The editor is still vim, of course.", {}),
        (ANA, "Ana prefers coffee.", GONE),
        (ANA, "As for tea, she prefers it.", {}),
        (ANA, "Nobody knows what she drinks.", GONE),
        (claim("A text.", "Ana", "prefers", "coffee"), "Ana prefers tea.", {}),
        (claim("A text."), "Ana prefers tea.", {}),
        (
            Memory(path="a.md", body="Ana prefers tea.", fields={"type": "note", "object": "tea"}),
            "Ana prefers coffee.",
            {},
        ),
    ],
)
def test_the_triple_follows_where_the_reader_is_sure(
    memory: Memory, text: str, changes: dict[str, str | None]
) -> None:
    assert triple_after(memory, text) == changes


def test_what_is_set_by_hand_wins_over_what_is_read(small_repo: Path) -> None:
    id_ = next(i for i, m in memories(small_repo).items() if m.text("object"))
    old = memories(small_repo)[id_]
    key, text = old.text("predicate"), f"{old.text('predicate')}: something else"
    done(small_repo, "edit", id_, "--text", text, now=LATER)
    assert memories(small_repo)[id_].text("object") == "something else"
    done(small_repo, "edit", id_, "--text", f"{key}: third", "--set", "object=mine", now=LATER)
    assert memories(small_repo)[id_].text("object") == "mine"
