"""Which texts say all that another says and little more, and which only look so."""

from collections.abc import Sequence

import pytest

from memrepo.core.judge import Candidate, PriorClaim
from memrepo.core.memory import Source
from memrepo.judges.sameness import Standing, fuller_texts

WHOLE = "All boats of the harbour are listed in the log by name, and each has a berth on the pier"


def candidate(
    text: str, name: str, *, resource: str = "", line: int = 3, under: str = "Boats", key: str = ""
) -> Candidate:
    """Return a candidate that stands on one line of one file, by default its own."""
    place = Source(resource=resource or f"sources/{name}.md", lines=(line, line))
    return Candidate(
        candidate_id=f"cand-{name}",
        text=text,
        context=("Harbour", under),
        type_hint="fact",
        key=key,
        sources=(place,),
    )


def joined(*candidates: Candidate, asked: Sequence[str] = ()) -> dict[str, str]:
    """Return what is said more fully, by the last letter of each id."""
    found = fuller_texts(candidates, asked or [c.candidate_id for c in candidates])
    return {key[-1]: other[-1] for key, other in found.items()}


@pytest.mark.parametrize(
    "longer",
    [
        pytest.param(WHOLE.replace("log", "harbour log"), id="a-word-more"),
        pytest.param(WHOLE.replace("harbour", "**harbour**") + ".", id="only-marks"),
    ],
)
def test_a_text_whose_words_all_stand_in_a_longer_one_is_said_more_fully(longer: str) -> None:
    assert joined(candidate(WHOLE, "a"), candidate(longer, "b")) == {"a": "b"}


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(WHOLE.replace("pier", "pier 4"), id="a-number"),
        pytest.param(WHOLE.replace("harbour", "harbour Kiel"), id="a-name"),
        pytest.param(WHOLE.replace("log", "`skiff` log"), id="code"),
        pytest.param(WHOLE.replace("are listed", "are not listed"), id="a-negation"),
        pytest.param(WHOLE + " if paid", id="a-condition"),
        pytest.param(WHOLE.replace("berth", "box"), id="another-word"),
        pytest.param(WHOLE.replace("log by name", "name by log"), id="another-order"),
        pytest.param(WHOLE + " that the office painted last spring", id="much-more"),
    ],
)
def test_what_is_added_or_exchanged_makes_another_statement(other: str) -> None:
    assert joined(candidate(WHOLE, "a"), candidate(other, "b")) == {}


LONGER = WHOLE.replace("log", "harbour log")


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        pytest.param({"line": 40}, {"a": "b"}, id="far-below"),
        pytest.param({"line": 5}, {}, id="neighbours"),
        pytest.param({"line": 40, "under": "Yachts"}, {}, id="under-another-subject"),
    ],
)
def test_lines_of_one_file_that_stand_apart_on_purpose_are_not_joined(
    place: dict[str, object], expected: dict[str, str]
) -> None:
    one = candidate(WHOLE, "a", resource="sources/MEMORY.md")
    other = candidate(LONGER, "b", resource="sources/MEMORY.md", **place)  # type: ignore[arg-type]
    assert joined(one, other) == expected


def test_what_has_a_key_joins_under_headings_that_have_a_word_in_common() -> None:
    keyed = candidate(f"**Rule:** {WHOLE}", "a", key="Rule")
    other = candidate(f"**Rule:** {LONGER}", "b", key="Rule")
    assert joined(keyed, other) == {"a": "b"}
    elsewhere = Candidate(
        candidate_id="cand-b",
        text=other.text,
        context=("Shop",),
        type_hint="fact",
        key="Rule",
        sources=other.sources,
    )
    assert joined(keyed, elsewhere) == {}


def test_short_texts_and_texts_that_were_not_asked_about_stay_apart() -> None:
    assert joined(candidate("Ann likes tea", "a"), candidate("Ann likes green tea", "b")) == {}
    assert joined(candidate(WHOLE, "a"), candidate(LONGER, "b"), asked=["cand-a"]) == {}
    wide = "用户每天早上都喝一杯咖啡"
    assert joined(candidate(wide, "a"), candidate(wide.replace("咖", "黑咖"), "b")) == {}


def prior(text: str, *, resource: str = "sources/other.md", subject: str = "") -> PriorClaim:
    """Return a memory that rests on a line of another file."""
    return PriorClaim(
        memory_id="mem-1",
        type="fact",
        standing="resolved",
        subject=subject,
        predicate="",
        object="",
        text=text,
        home="LTMEMORY.md",
        sources=(Source(resource=resource, lines=(1, 1), text_hash="0" * 64),),
    )


def said_by(memory: PriorClaim, new: Candidate) -> str:
    return Standing((prior("The pier is closed in winter, and so is its cafe"), memory), 1).says(
        new
    )


@pytest.mark.parametrize(
    "known",
    [
        pytest.param(WHOLE.replace("log", "harbour log"), id="a-word-more"),
        pytest.param(WHOLE + ".", id="a-stop"),
        pytest.param(WHOLE.replace("All boats", "All the boats"), id="an-article"),
    ],
)
def test_a_later_line_of_another_file_joins_the_memory_that_says_the_same(known: str) -> None:
    assert said_by(prior(known), candidate(WHOLE, "a")) == "mem-1"


@pytest.mark.parametrize(
    ("memory", "new"),
    [
        pytest.param(prior(WHOLE.replace("pier", "pier 4")), candidate(WHOLE, "a"), id="a-number"),
        pytest.param(
            prior(WHOLE.replace("are listed", "are not listed")),
            candidate(WHOLE, "a"),
            id="negated",
        ),
        pytest.param(
            prior(WHOLE + ".", resource="sources/a.md"), candidate(WHOLE, "a"), id="its-own-file"
        ),
        pytest.param(prior(WHOLE), candidate(WHOLE, "a", key="Boats"), id="a-key"),
        pytest.param(
            prior("Sails go to the loft in autumn", subject="Ana"),
            candidate("The sails go to the loft in autumn", "a", under="Ben"),
            id="another-subject",
        ),
    ],
)
def test_a_later_line_that_may_say_another_thing_makes_its_own_memory(
    memory: PriorClaim, new: Candidate
) -> None:
    assert said_by(memory, new) == ""
