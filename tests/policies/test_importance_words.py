"""The words by which texts are weighed: phrases, trivial texts, content, and added words."""

from __future__ import annotations

import pytest

from memrepo.policies.importance import Lexicon, lexicon, tokens

SHIPPED = lexicon()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Don't stop", ["don", "t", "stop"]),
        ("ÜBER-Grün", ["über", "grün"]),
        ("東京a", ["東", "京", "a"]),
        ("", []),
    ],
)
def test_a_text_is_cut_into_words_and_single_characters(text: str, expected: list[str]) -> None:
    assert tokens(text) == expected


def test_a_phrase_is_found_whole_and_the_first_of_each_signal() -> None:
    more = lexicon({"hedging": ["over the moon", "moonshot"], "high": ["moonshot"]})
    assert more.found(tokens("we are over the moon now"))["hedging"] == "over the moon"
    assert "hedging" not in more.found(tokens("we are over the hill"))
    assert "hedging" not in more.found(tokens("the moon, over"))
    both = more.found(tokens("moonshot then over the moon"))
    assert (both["hedging"], both["high"]) == ("moonshot", "moonshot")


def test_a_phrase_at_the_very_end_is_found_and_a_cut_one_is_not() -> None:
    more = lexicon({"high": ["red alert"]})
    assert more.found(["a", "red", "alert"])["high"] == "red alert"
    assert "high" not in more.found(["a", "red"])


@pytest.mark.parametrize(
    ("text", "trivial"),
    [
        ("thanks", True),
        ("Thaaanks!!!", True),
        ("thanks for the red larch gate", False),
        ("", False),
    ],
)
def test_greetings_and_the_like_are_trivial(text: str, trivial: bool) -> None:
    assert SHIPPED.is_trivial(tokens(text)) is trivial


def test_the_longest_trivial_text_is_one_too() -> None:
    only = Lexicon(phrases={}, trivial=frozenset({"abc"}), kinds=3, stop=(frozenset(),))
    assert only.is_trivial(["abc"])
    assert not only.is_trivial(["abcd"])
    assert not only.is_trivial(["ab"])


def test_content_is_what_is_no_stop_word_of_the_texts_language() -> None:
    assert SHIPPED.content("The gate of the old mill") == ["gate", "old", "mill"]
    assert "the" in SHIPPED.content("der Zaun und das Tor, the")
    assert SHIPPED.content("ab abc") == ["abc"], "three letters and more"
    assert SHIPPED.content("東京都") == ["東京", "京都"]
    assert SHIPPED.content("東") == ["東"]
    assert SHIPPED.content("gate gate") == ["gate", "gate"]
    assert SHIPPED.content("set-up") == ["set-up"]


def test_added_words_count_and_are_known_by_a_print() -> None:
    assert SHIPPED.more == ""
    added = lexicon({"stop": ["gate"], "trivial": ["jolly good"]})
    assert added.content("The gate of the old mill") == ["old", "mill"]
    assert added.is_trivial(tokens("jolly good"))
    assert not SHIPPED.is_trivial(tokens("jolly good"))
    assert len(added.more) == 16
    assert added.more == lexicon({"stop": ["gate"], "trivial": ["jolly good"]}).more
    assert added.more != lexicon({"stop": ["mill"]}).more
