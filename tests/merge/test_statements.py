"""Splitting a text into what it states, in any script and layout, and leaving a part of it out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrepo.merge.tombstones import Statement, leave_out, statements, text_key

KEY = "The guest key hangs behind the blue door."


def without(text: str, said: str) -> str:
    """Return a text without each statement in it that looks like another one."""
    return leave_out(text, [one for one in statements(text) if one.key == text_key(said)])


@pytest.mark.parametrize(
    ("text", "said", "rest"),
    [
        (f"The roof leaks. {KEY} The lamp is new.", KEY, "The roof leaks. The lamp is new."),
        (f"The roof leaks;\n{KEY}\nThe lamp is new", KEY, "The roof leaks;\nThe lamp is new"),
        (f"- It leaks.\n- {KEY}\n- The lamp is new.", KEY, "- It leaks.\n- The lamp is new."),
        (f"- Keys:\n  - {KEY}\n  - One is lost.", KEY, "- Keys:\n  - One is lost."),
        (f"Keys:\n\n- {KEY}\n\nThe lamp is new.", KEY, "Keys:\n\nThe lamp is new."),
        ("Long ago. The guest key hangs\nbehind the **blue** door. Mr. Ode knows.", KEY,
         "Long ago. Mr. Ode knows."),
        ("Mr. Ode came. Ask Dr. Lim. The lamp is new.", "Ask Dr. Lim.",
         "Mr. Ode came. The lamp is new."),
        (f"# Home\n\n{KEY}\n", KEY, ""),
        (f"Keys:\n- {KEY}", KEY, ""),
        ("| what | where |\n|---|---|\n| key | door |\n| lamp | hall |", "key: door",
         "| what | where |\n|---|---|\n| lamp | hall |"),
        ("| what | where |\n|---|---|\n| key | door |", "key: door", ""),
        (f"- 09:15 – {KEY}\n- Rain.", KEY, "- Rain."),
        (f"- Note: {KEY}\n- Rain.", KEY, "- Rain."),
        (f"> {KEY}\n\nRain.", KEY, "Rain."),
        (f"{KEY} The lamp is new.", KEY, "The lamp is new."),
        (f"| a | b |\n|---|---|\n| lamp | {KEY} |\n| oil | no |", KEY,
         "| a | b |\n|---|---|\n| oil | no |"),
        ("屋顶漏水。钥匙在蓝色的门后面。灯是新的。", "钥匙在蓝色的门后面", "屋顶漏水。灯是新的。"),
        ("छत टपकती है। चाबी नीले दरवाज़े के पीछे है। दीपक नया है।", "चाबी नीले दरवाज़े के पीछे है।",
         "छत टपकती है। दीपक नया है।"),
        ("Крыша течёт. Ключ висит за синей дверью! Лампа новая.", "Ключ висит за синей дверью",
         "Крыша течёт. Лампа новая."),
        (f"The roof leaks. Not so: {KEY.lower()} The lamp is new.", "The roof is red.",
         f"The roof leaks. Not so: {KEY.lower()} The lamp is new."),
    ],
)  # fmt: skip
def test_a_statement_is_left_out_and_the_rest_is_verbatim(text: str, said: str, rest: str) -> None:
    assert without(text, said) == rest


WORDS = st.lists(st.sampled_from("ab cd efg 12 ä 钥 . ; : - | > # \n".split(" ")), max_size=30)


@given(WORDS, st.integers(0, 9))
def test_leaving_a_statement_out_touches_no_other_block(words: list[str], number: int) -> None:
    text = " ".join(words)
    found = statements(text)
    if not found:
        return
    one = found[number % len(found)]
    around = [s for s in found if s.start <= one.start and one.end <= s.end]
    block = max(around, key=lambda s: s.end - s.start)
    outside = f"{text[: block.start]} {text[block.end :]}"
    rest = leave_out(text, [one])
    assert {*filter(str.isalnum, rest.split())} <= {*text.split()}
    assert not rest or {*filter(str.isalnum, outside.split())} <= {*rest.split()}
    assert leave_out(rest, []) == rest


@pytest.mark.parametrize(
    ("text", "expected", "runs"),
    [
        (" \n\n", [], []),
        ("One.\n\n\nTwo.", ["One.", "Two."], []),
        ("- a b\n- c d", ["- a b", "- c d"], []),
        ("# Head\ntext one", ["# Head", "text one"], []),
        (
            "One is here. Two is there.\nThree",
            [
                *("One is here. Two is there.\nThree", "One is here. Two is there.", "Three"),
                *("One is here.", "Two is there.", "Three"),
            ],
            ["One is here. Two is there.", "Two is there.\nThree"],
        ),
        (
            "a. b. c. d. e.",
            ["a. b. c. d. e.", "a.", "b.", "c.", "d.", "e."],
            [
                *("a. b.", "a. b. c.", "a. b. c. d."),
                *("b. c.", "b. c. d.", "b. c. d. e.", "c. d.", "c. d. e.", "d. e."),
            ],
        ),
        ("| x | y |", ["| x | y |", "x", "y", "x: y"], []),
        ("| x || z |", ["| x || z |", "x", "z"], []),
        ("| one |", ["| one |", "one"], []),
        (
            "Note: it is so. And so.",
            [
                *("Note: it is so. And so.", "it is so. And so."),
                *("Note: it is so.", "it is so.", "And so."),
            ],
            [],
        ),
        ("09:15 – It rained.", ["09:15 – It rained.", "It rained.", "It rained."], []),
        ("Note:", ["Note:"], []),
        (
            "Key：值。二。",
            ["Key：值。二。", "值。二。", "Key：值。", "值。", "二。"],
            [],
        ),
    ],
)
def test_a_text_is_split_into_statements(text: str, expected: list[str], runs: list[str]) -> None:
    found = statements(text)
    assert [one.text for one in found if not one.is_run] == expected
    assert [one.text for one in found if one.is_run] == runs
    assert all(one.text in text[one.start : one.end] or "|" in text for one in found)


@pytest.mark.parametrize(
    ("text", "pair"),
    [
        ("status: green", ("status", " green")),
        ("- **status**: green", ("**status**", " green")),
        ("状态：绿", ("状态", "绿")),
        ("green", ("", "")),
        ("status:", ("", "")),
    ],
)
def test_a_pair_is_a_key_and_a_value(text: str, pair: tuple[str, str]) -> None:
    assert Statement(start=0, end=len(text), text=text).pair == pair
