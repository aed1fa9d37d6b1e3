"""Which texts say the same in other words, and which only look alike."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrepo.core.judge import Candidate
from memrepo.core.memory import Source
from memrepo.judges.sameness import _shared_by_all, equal_groups, sense


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ann sold the old boat in March.", "In March, Ann sold the old boat"),
        ("Ann is planning to open a bakery", "Ann plans to open a bakery"),
        ("Ann recently joined a choir in Kiel", "Recently, Ann joined a choir in Kiel"),
        ("Ann lately joined a choir in Kiel", "Ann joined a choir in Kiel recently"),
        ("Ann took part in the harbour race", "Ann participated in the harbour race"),
        ("Ann bought a small house near Kiel", "Ann purchased a tiny house near Kiel"),
        ("Ann is happy about her new job", "Ann is really glad about her new position"),
        ("The backup doesn't run on Sundays", "The backup does not run on Sundays"),
        (
            "Because it rained, the fair was moved indoors",
            "The fair was moved indoors because it rained",
        ),
        ("Ann currently is learning to weld steel", "Ann is learning to weld steel currently"),
        ("ANN KEEPS TWO CATS AND A DOG", "Ann keeps two cats and a dog!"),
    ],
)
def test_texts_of_one_sense(one, other):
    assert sense(one) == sense(other) != ()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ben called Anna about the boat", "Anna called Ben about the boat"),
        ("Ann likes tea more than coffee", "Ann likes coffee more than tea"),
        ("The train goes from Kiel to Rome", "The train goes from Rome to Kiel"),
        ("Ann prefers tea to black coffee", "Ann prefers black coffee to tea"),
        ("Ann bought a red car in Kiel", "Ann bought a blue car in Kiel"),
        ("Ann worked at the mill in Kiel", "Ann works at the mill in Kiel"),
        ("Ann was planning to open a bakery", "Ann plans to open a bakery"),
        ("The backup runs on Sundays at nine", "The backup does not run on Sundays at nine"),
        ("Only Ann may restart the gateway", "Ann may only restart the gateway"),
        ("The limit is 15 GB per user", "The limit is 1.5 GB per user"),
        ("Run `make tests` before you push it", "Run `make test` before you push it"),
        ("Ann loves the choir in Kiel", "Ann likes the choir in Kiel"),
        ("Ann hopes to buy the mill", "Ann plans to buy the mill"),
        ("Ann has one cat and two dogs", "Ann has two cats and one dog"),
    ],
)
def test_texts_of_another_sense(one, other):
    assert () != sense(one) != sense(other) != ()


def test_short_texts_have_no_sense_of_their_own():
    assert sense("Anna likes green tea") == ()
    assert sense("用户喜欢喝绿茶") == ()


@given(st.lists(st.sampled_from(["Ann", "sold", "a", "boat", "in", "March", "not", "2", "`x`"])))
def test_a_rotation_has_the_sense_of_the_whole(words):
    turned = [*words[1:], *words[:1]]
    assert sense(" ".join(words)) == sense(" ".join(turned))


@given(st.text(max_size=60))
def test_any_text_has_one_sense(text):
    assert sense(text) == sense(text)
    assert all(isinstance(word, str) for word in sense(text))


SAID = st.sampled_from(
    (
        ("start", "begin", "starting"),
        ("we will", "we'll"),
        ("bakery", "bakeries"),
        ("travelling", "travels", "travel"),
        ("currently", "now", "at the moment"),
        ("does not", "doesn't"),
        ("purchased", "bought"),
        ("repairing", "repairs", "repair"),
        ("Friday", "fridays"),
        ("window", "windows", "the window"),
        ("is planning", "planning", "plans"),
        ("harbour", "ｈarbour"),
        ("7 crates", "7 crate"),
    )
)


@given(st.lists(SAID, min_size=4, max_size=7), st.data())
def test_what_has_the_sense_of_a_text_holds_how_its_words_begin(
    said: list[tuple[str, ...]], data: st.DataObject
) -> None:
    one, other = (" ".join(data.draw(st.sampled_from(way)) for way in said) for _ in range(2))
    begun = _shared_by_all(one) if other.isascii() else frozenset[str]()
    if sense(one) == sense(other) != ():
        assert [part for part in begun if part not in other.casefold()] == []


def stands(name: str, text: str, *context: str, daily: bool = False) -> Candidate:
    """Return a candidate that is promoted, under some headings."""
    return Candidate(
        candidate_id=name,
        text=text,
        context=context,
        sources=(Source(resource=f"sources/{name}.md", lines=(3, 3)),),
        daily=daily,
    )


SAID = "Host: the grey server in the cellar, user vera"


@pytest.mark.parametrize(
    ("other", "joined"),
    [
        (stands("b", SAID.replace(", user", " (user") + ")", "Setup", "Workbench"), True),
        (stands("b", SAID, "Kiln"), False),  # under another subject
        (stands("b", SAID, daily=True), True),  # a log that names no subject
        (stands("b", SAID), False),  # no log: its subject is not known
        (stands("b", SAID.replace("vera", "uwe"), "Workbench"), False),
    ],
)
def test_one_statement_under_what_reads_the_same_is_one(other: Candidate, joined: bool) -> None:
    one = stands("a", SAID, "Workbench")
    found = equal_groups([one, other], {"a": "promote", "b": "promote"})
    assert found == ({"a": ("b",), "b": ("a",)} if joined else {})


def test_a_log_does_not_choose_between_two_subjects() -> None:
    all_ = [
        stands("a", SAID, "Workbench"),
        stands("b", SAID, "Kiln"),
        stands("c", SAID, daily=True),
    ]
    assert equal_groups(all_, dict.fromkeys("abc", "promote")) == {}
