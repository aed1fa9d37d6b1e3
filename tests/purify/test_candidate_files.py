"""What is set aside is a file a text, also where several candidates say the same."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memrepo.actions.run.candidate_files import set_aside
from memrepo.core.changes import Delete, Write
from memrepo.core.ids import text_hash
from memrepo.core.judge import Candidate, PromotionScores, Verdict, VerdictWord
from memrepo.core.memory import Source
from memrepo.core.state import Files, State

NOW = datetime(2026, 3, 1, 9, tzinfo=UTC)
TEXT = "The kettle is blue."


def asked(*words: VerdictWord) -> tuple[list[Candidate], list[Verdict]]:
    candidates, verdicts = [], []
    for n, word in enumerate(words):
        source = Source(resource=f"sources/{n}.md", blob="a" * 40, lines=(1, 1))
        id_ = f"cand-{n}"
        candidates.append(
            Candidate(candidate_id=id_, text=TEXT, context=(f"Heading {n}",), sources=(source,))
        )
        verdicts.append(verdict(id_, word))
    return candidates, verdicts


def verdict(id_: str, word: VerdictWord) -> Verdict:
    scores = PromotionScores(**dict.fromkeys(PromotionScores.__struct_fields__, 0.5))
    return Verdict(candidate_id=id_, verdict=word, scores=scores, strength=0.5, rationale="no use")


def path(folder: str) -> str:
    return State(files=Files({}, {}), memories={}).layout.candidate(folder, text_hash(TEXT))


def test_equal_texts_share_a_file_with_the_places_of_both() -> None:
    empty = State(files=Files({}, {}), memories={})
    (change,) = set_aside(empty, *asked("defer", "defer"), NOW)
    assert isinstance(change, Write)
    for word in ("Heading 0", "Heading 1", "sources/0.md", "sources/1.md"):
        assert word.encode() in change.data


@pytest.mark.parametrize("words", [("defer", "promote"), ("promote", "defer")])
def test_what_one_wants_kept_is_not_deleted_for_another(words: tuple[VerdictWord, ...]) -> None:
    before = State(files=Files({path("deferred"): b"first"}, {}), memories={})
    assert set_aside(before, *asked(*words), NOW) == ()


def test_a_text_that_is_promoted_leaves_both_folders() -> None:
    there = {path("deferred"): b"x", path("rejected"): b"y"}
    changes = set_aside(State(files=Files(there, {}), memories={}), *asked("promote"), NOW)
    assert set(changes) == {Delete(path=p) for p in there}


@pytest.mark.parametrize("words", [("defer", "reject"), ("reject", "defer")])
def test_a_text_judged_both_ways_stands_in_both_folders(words: tuple[VerdictWord, ...]) -> None:
    changes = set_aside(State(files=Files({}, {}), memories={}), *asked(*words), NOW)
    assert {type(c) for c in changes} == {Write}
    assert {c.path for c in changes if isinstance(c, Write)} == {path("deferred"), path("rejected")}
