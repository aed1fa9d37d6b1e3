from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memrepo.core import ids

WRITTEN = st.text(st.characters(codec="utf-8"), max_size=30)


@given(WRITTEN)
@example("\u0345\u03b1")
@example("ſ\u0323\u0307")
@example("ﬁ\u200b İ")
def test_normalising_twice_is_normalising_once(text: str) -> None:
    assert ids.normalise(ids.normalise(text)) == ids.normalise(text)


@given(st.text(st.characters(max_codepoint=127), max_size=30))
@example("a\x1cb\x00 C\x7f")
def test_plain_text_is_folded_like_any_other(text: str) -> None:
    assert ids.normalise(f"é {text}") == f"é {ids.normalise(text)}".strip()


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("  Staging\u00a0 RUNS \n in\tFrankfurt ", "staging runs in frankfurt"),
        ("zero\u200bwidth\u202e and \ufeffmarks", "zerowidth and marks"),
        ("ＡＢＣ ﬁle", "abc file"),
        ("Straße", "strasse"),
        ("cafe\u0301", "café"),
    ],
)
def test_a_normal_text(text: str, normal: str) -> None:
    assert ids.normalise(text) == normal


@pytest.mark.parametrize(
    "text",
    [
        *("- Pizza is good", "* [x] Pizza is good", "12. Pizza  is good"),
        *("- [ ] [2026-01-31] pizza is good", "2026-01-31: Pizza is GOOD", "Pizza is good"),
    ],
)
def test_markers_and_dates_do_not_tell_claims_apart(text: str) -> None:
    assert ids.text_hash(text) == ids.text_hash("pizza is good")


def test_an_id_is_made_of_its_parts_and_of_nothing_else() -> None:
    claim = {"scope": "", "subject": "Staging", "predicate": "runs in", "object_": "Frankfurt"}
    known = ids.claim_id(**claim, text="Staging runs in Frankfurt")
    assert known == ids.claim_id(**claim, text="- staging  runs in frankfurt")
    assert known != ids.claim_id(**{**claim, "scope": "user:a"}, text="Staging runs in Frankfurt")
    assert ids.note_id(resource="a.md", text="x", occurrence=0) != ids.note_id(
        resource="a.md", text="x", occurrence=1
    )
    at = datetime(2026, 1, 31, tzinfo=UTC)
    assert ids.manual_id(created=at, text="x") != ids.manual_id(created=at, text="y")


@pytest.mark.parametrize(
    ("text", "slug"),
    [
        ("- [x] 2026-01-31: Staging runs in Frankfurt!", "staging-runs-in-frankfurt"),
        ("Привет, мир", "привет-мир"),
        ("决定：周五不开会", "决定-周五不开会"),
        ("周五不开会" * 20, "周五不开会" * 6),
        ("Cafe\u0301 Zürich", "café-zürich"),
        ("हिन्दी में", "हिन्दी-में"),
        ("🚀", "memory"),
        ("слово " * 30, "слово-слово-слово-слово-слово"),
        ("", "memory"),
        ("...", "memory"),
        ("word " * 30, "word-word-word-word-word-word-word-word-word-word-word-word"),
        ("x" * 100, "x" * 60),
    ],
)
def test_a_slug(text: str, slug: str) -> None:
    assert ids.slugify(text) == slug


@given(st.text(max_size=200))
def test_a_slug_is_a_name_that_every_file_system_holds(text: str) -> None:
    slug = ids.slugify(text)
    assert len(slug.encode()) <= 190
    assert not set(slug) & set('/\\:*?"<>|. \t\n')
    assert slug.isprintable()
    assert "--" not in slug
    assert not slug.startswith("-")
    assert not slug.endswith("-")
    assert ids.slugify(slug) == slug
