"""Lines of an index that point to a file of one memory, and what else they may say."""

import pytest

from memrepo.core.judge import Candidate, PriorClaim
from memrepo.core.memory import Source
from memrepo.judges.pointers import pointed
from memrepo.judges.sameness import Standing

TOLD = "Answer the harbour office in short sentences\n\nThey read on a phone, on deck, in the sun."
FILE = "sources/memory/feedback_short.md"


def line(text: str, *, file: str = "sources/memory/MEMORY.md") -> Candidate:
    return Candidate(
        candidate_id="cand-line", text=text, sources=(Source(resource=file, lines=(7, 7)),)
    )


def memory(first: int = 1) -> Candidate:
    place = Source(resource=FILE, lines=(first, 9))
    return Candidate(candidate_id="cand-file", text=TOLD, sources=(place,))


SAME = "[feedback_short.md](feedback_short.md) — the harbour office reads short sentences"


@pytest.mark.parametrize(
    ("one", "whole", "joins"),
    [
        pytest.param(line(SAME), memory(), True, id="says-the-same"),
        pytest.param(line(SAME.replace("(f", "(./f")), memory(), True, id="a-dot-before"),
        pytest.param(
            line(SAME.replace("(f", "(memory/f"), file="sources/MEMORY.md"), memory(), True, id="up"
        ),
        pytest.param(line(SAME, file="sources/MEMORY.md"), memory(), False, id="another-folder"),
        pytest.param(line(SAME), memory(first=4), False, id="a-line-of-the-file"),
        pytest.param(
            line("[feedback_short.md](feedback_short.md) — the office closes on Mondays in winter"),
            memory(),
            False,
            id="says-more",
        ),
        pytest.param(line("the harbour office reads short sentences"), memory(), False, id="none"),
    ],
)
def test_a_line_of_an_index_joins_the_memory_of_its_file(
    one: Candidate, whole: Candidate, joins: bool
) -> None:
    found = {"cand-line": "cand-file"} if joins else {}
    assert pointed((one, whole), {"cand-file"}) == found
    assert pointed((one, whole), ()) == {}
    prior = PriorClaim(
        memory_id="mem-1",
        type="constraint",
        standing="resolved",
        subject="",
        predicate="",
        object="",
        text=TOLD,
        home="LT",
        sources=whole.sources,
    )
    said = Standing((prior,), 1).says(one)
    assert (said == "mem-1") is joins
