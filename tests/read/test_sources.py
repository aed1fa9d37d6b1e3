from __future__ import annotations

import pytest

from memrepo.core.memory import CLAIM_TYPES, HOME_OF_TYPE
from memrepo.policies.claims import is_permitted, type_in_profile
from memrepo.read.sources import (
    AUTHORITY,
    SourceRules,
    default_type,
    kind_of,
    matches,
    named_only,
    why_denied,
)

RULES = named_only(SourceRules())
BUSINESS = named_only(SourceRules(is_personal=False))


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("MEMORY.md", "claims"),
        ("PROCEDURES.md", "claims"),
        ("CHRONICLES.md", "claims"),
        ("USER.md", "claims"),
        ("episodes/2026-02-07.md", "claims"),
        ("memory/people.md", "claims"),
        ("inbox/from bob.md", "claims"),
        ("memory/2026-02-07.md", "notes"),
        ("memory/2026-02-07-1430-heartbeat-ok.md", "notes"),
        ("memory/2026-2-7.md", "claims"),
        ("memory/sub/people.md", "claims"),
        ("memory/sub/deep/2026-02-07.md", "notes"),
        ("memory/dreaming/deep/2026-02-07.md", None),
        ("memory/.cache/people.md", None),
        ("TOOLS.md", "claims"),
        ("agents/ana/MEMORY.md", "claims"),
        ("SOUL.md", "claims"),
        ("agents/ana/SOUL.md", None),
        ("skills/mill/CLAUDE.md", None),
        (".claude/CLAUDE.md", "claims"),
        ("agents/ana/notes.md", None),
        ("episodes/old/x.md", None),
        ("memory/people.txt", None),
        ("memories/user/2026-02/bob-123456.md", None),
        ("views/LTMEMORY.md", None),
        ("runtime/purified-claims.jsonl", None),
        ("memory/index.md", None),
        ("README.md", None),
        ("HOT.md", None),
        ("../MEMORY.md", None),
        ("/MEMORY.md", None),
        ("", None),
        *((name, None) for name in AUTHORITY),
    ],
)
def test_each_path_has_one_kind(path: str, kind: str | None) -> None:
    assert kind_of(path, RULES) == kind
    assert bool(why_denied(path, RULES)) == (kind is None)


@pytest.mark.parametrize("path", ["CHRONICLES.md", "DREAMS.md"])
def test_personal_files_are_refused_on_business(path: str) -> None:
    assert kind_of(path, RULES) == "claims"
    assert kind_of(path, BUSINESS) is None
    assert "personal" in why_denied(path, BUSINESS)


def test_deny_wins_over_notes_and_notes_over_claims() -> None:
    path = "memory/2026-02-07.md"
    assert kind_of(path, SourceRules(notes=())) == "claims"
    assert kind_of(path, SourceRules(deny=("memory/",))) is None


@pytest.mark.parametrize(
    ("path", "pattern", "fits"),
    [
        ("a/b.md", "*.md", False),
        ("a/b.md", "*/*.md", True),
        ("a/b/c.md", "*/*.md", False),
        ("a/b/c.md", "a/", True),
        ("a", "a/", False),
        ("ab/c.md", "a/", False),
        ("A.md", "a.md", False),
    ],
)
def test_a_star_never_crosses_a_slash(path: str, pattern: str, fits: bool) -> None:
    assert matches(path, pattern) is fits


@pytest.mark.parametrize(
    ("path", "claim_type"),
    [
        ("MEMORY.md", "fact"),
        ("sources/RTMEMORY.md", "lesson"),
        ("PROCEDURES.md", "method"),
        ("CHRONICLES.md", "milestone"),
        ("DREAMS.md", "aspiration"),
        ("episodes/MEMORY.md", "episode"),
        ("sources/episodes/trip.md", "episode"),
        ("memory/people.md", "fact"),
    ],
)
def test_the_file_hints_at_the_type(path: str, claim_type: str) -> None:
    assert default_type(path) == claim_type


# -- the page of each type, and what a business makes of what only a person has --------------------


@pytest.mark.parametrize("type_", CLAIM_TYPES)
def test_on_business_each_type_becomes_one_with_a_permitted_page(type_):
    assert type_in_profile(type_, "personal") == type_
    assert is_permitted(HOME_OF_TYPE[type_in_profile(type_, "business")], "business")


@pytest.mark.parametrize(
    ("type_", "recast_type"),
    [
        ("milestone", "episode"),
        ("aspiration", "open_question"),
        ("episode", "episode"),
        ("rumour", "rumour"),
    ],
)
def test_business_recasts_what_only_a_person_has(type_, recast_type):
    assert type_in_profile(type_, "business") == recast_type
