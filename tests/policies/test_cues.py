"""Kinds of answer: what a text may give, and what a question asks for."""

from __future__ import annotations

import pytest

from memrepo.text.cues import asks_several, cues_of, matter_of, wanted
from memrepo.text.tokens import words


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("where is it", ""),
        ("Where is it?", "?"),
        ("那是什么？", "?"),
        ("it was last week", "t"),
        ("On Friday it was", "tp"),
        ("in may", ""),
        ("fed at 07:00", "tn"),
        ("three of them", "n"),
        ("it has 4 legs", "n"),
        ("anyone", ""),
        ("Always answer in French", "pr"),
        ("ich trinke lieber Tee", "pr"),
        ("i am allergic to nuts", "r"),
        ("我对花生过敏", "r"),
        ("a way to the sea", ""),
        ("Ana went", ""),
        ("she and Ana went", "p"),
        ("to Élodie", "p"),
        ("so I went. He did", ""),
        ('I read "Water"', "pq"),
        ("«Eau»", "q"),
        ("", ""),
        ("so many days? 3 for Ana", "?tnp"),
    ],
)
def test_a_text_tells_what_it_may_answer(text: str, found: str) -> None:
    assert cues_of(text) == found


@pytest.mark.parametrize(
    "said",
    "always never|from now on|whenever I|when I ask|strictly|exclusively|preference|do not use"
    "|don't wear|only eat|aversion|allergies|intolerant|phobia|fear of|fan of|vegan|vegetarian"
    "|I'd rather|I would rather|cannot stand|can't have|no interest in|much interest in|not into"
    "|i really like|I need to avoid|immer|niemals|bevorzugt|lieber|ungern|toujours|jamais|siempre"
    "|nunca|prefiero|detesto|odio|sempre|altijd|nooit|liever|alltid|aldrig|zawsze|nigdy|7:05"
    "|17:05|tonight|recently|next|ago|day|weeks|weekend|months|year|evening|midnight|thursday"
    "|september|1:234|snake_day|weekends".split("|"),
)
def test_a_text_of_ascii_alone_is_told_by_its_words_what_patterns_tell_of_any_other(
    said: str,
) -> None:
    for text in (said, f"so {said} it was", said.upper()):
        assert cues_of(text) == cues_of(f"{text}\u00a0")


@pytest.mark.parametrize(
    ("question", "kinds"),
    [
        ("When did it start?", "t"),
        ("What year was it?", "t"),
        ("Say when", ""),
        ("How many pumps are there?", "n"),
        ("How long is it?", "n"),
        ("Who was it?", "p"),
        ("Where is it?", "p"),
        ("In what city was it?", "p"),
        ("Which books are these?", "pq"),
        ("What is it called?", "q"),
        ("What is it?", ""),
        ("", ""),
    ],
)
def test_a_question_tells_what_it_asks_for(question: str, kinds: str) -> None:
    assert wanted(words(question)) == kinds


@pytest.mark.parametrize(
    ("question", "several"),
    [
        ("What books has Ana read?", True),
        ("Which pump stations are new?", True),
        ("How many pumps are there?", True),
        ("What are Ana's hobbies?", True),
        ("What kind of tea does she like?", True),
        ("Which people did he meet?", True),
        ("In which ways does it help?", True),
        ("What book has Ana read?", False),
        ("What does Ana read?", False),
        ("What has James done?", False),
        ("What did James do?", False),
        ("What is this glass made of?", False),
        ("When were the pumps cleaned?", False),
        ("", False),
    ],
)
def test_a_plural_asks_for_several_and_a_name_in_s_does_not(question: str, several: bool) -> None:
    assert asks_several(words(question)) == several


@pytest.mark.parametrize(
    ("question", "matter"),
    [
        ("Can you list the order in which I brought up the heating?", "i the heating?"),
        (
            "Give me a short summary of how the roof project went so far",
            "give me the roof project went",
        ),
        ("How long is the lease?", "is the lease?"),
        ("What kinds of tea did we mention across our conversations?", "what tea did we ?"),
        ("Where is the spare key?", "where is the spare key?"),
    ],
)
def test_what_a_question_says_of_the_talk_is_not_its_matter(question: str, matter: str) -> None:
    assert " ".join(matter_of(question).split()) == matter


@pytest.mark.parametrize(
    ("question", "asks"),
    [
        ("What tea would you suggest?", True),
        ("How should I format the report?", True),
        ("Welchen Tee soll ich kaufen?", True),
        ("¿Me recomiendas un té?", True),
        ("推荐什么茶？", True),
        ("What tea did she buy?", False),
        ("When is the report due?", False),
    ],
)
def test_who_asks_for_help_wants_the_rules_by_which_it_is_given(
    question: str, *, asks: bool
) -> None:
    assert ("r" in wanted(words(question))) is asks
