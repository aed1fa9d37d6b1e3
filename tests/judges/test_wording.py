"""Long texts become extracts that end where a sentence ends."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrepo.core.judge import Candidate
from memrepo.judges.wording import EXTRACT_LENGTH, extract, read_triple


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        ("Short.", 20, "Short."),
        ("One here. Two here. Three here.", 20, "One here. Two here."),
        (
            "Tools, e.g. hammers, lie in the shed. All others do not.",
            40,
            "Tools, e.g. hammers, lie in the shed.",
        ),
        ("Dr. Berg and Prof. Lund own the mill in Kiel", 30, "Dr. Berg and Prof. Lund own…"),
        ("一个长句子。另一个长句子。第三个。", 14, "一个长句子。另一个长句子。"),
        ("First line\nsecond line that is long", 20, "First line"),
        ("nothing to cut at before the limit", 20, "nothing to cut at…"),
    ],
)
def test_an_extract_ends_with_a_sentence(text, limit, expected):
    assert extract(text, limit) == expected


@given(st.text(alphabet="ab. \n。!é…", max_size=1200))
def test_no_extract_is_longer_than_its_limit(text):
    assert len(extract(text)) <= EXTRACT_LENGTH


def test_a_list_has_no_key_though_its_first_line_has_one() -> None:
    rows = "- **Editor:** vim\n- **Shell:** fish"
    card = Candidate(candidate_id="c", text=rows, detail=rows, context=("Tools",), type_hint="fact")
    triple = read_triple(card)
    assert (triple.subject, triple.predicate, triple.object) == ("Tools", "", "")
