"""Search terms: one cut for what is indexed and what is asked, in every script."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrepo.policies.ranking import asks_assistant, cues_of, of_self, role_of, wanted
from memrepo.text.words import asked_terms, date_words, index_terms, query_terms, terms, words


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Melanie's café isn't naïve", ["melanie", "cafe", "isnt", "naive"]),
        ("port 8080, e2e (v1.10)", ["port", "8080", "e2e", "v1", "10"]),
        ("snake_case and kebab-case", ["snake", "case", "and", "kebab", "case"]),
        ("東京タワー", ["東京", "京タ", "タワ", "ワー"]),
        ("漢", ["漢"]),
        ("한국어", ["한국", "국어"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("ＡＢＣ ﬁne Ünïcode", ["abc", "fine", "unicode"]),
        ("a\u200bb", ["ab"]),
        ("", []),
        ("... --- !!!", []),
    ],
)
def test_a_text_is_cut_into_folded_words_and_pairs(text: str, wanted: list[str]) -> None:
    assert words(text) == wanted


def test_forms_of_a_word_meet_in_one_term() -> None:
    assert terms("running runs run") == ["run", "run", "run"]
    assert query_terms("greenhouses") == tuple(terms("greenhouse"))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("went", "going"),
        ("bought", "buys"),
        ("children", "child's"),
        ("kids", "child"),
        ("taught", "teaching"),
        ("written", "wrote"),
        ("colours", "colored"),
        ("mom", "mothers"),
        ("feet", "foot"),
        ("Jan", "January"),
    ],
)
def test_forms_that_no_rule_leads_back_meet_in_their_word(one: str, other: str) -> None:
    assert terms(one) == terms(other)


@pytest.mark.parametrize(("one", "other"), [("rose", "rise"), ("wound", "wind"), ("bit", "bite")])
def test_a_form_that_is_a_word_of_its_own_stays_one(one: str, other: str) -> None:
    assert terms(one) != terms(other)


def test_a_question_is_asked_without_its_small_words_unless_it_has_no_others() -> None:
    assert query_terms("What did the pump do?") == ("pump",)
    assert query_terms("who is the?") == ("who", "is", "the")
    assert query_terms("pump pump pumps") == ("pump",)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("Anne", "A Anne não usa a agenda, só o quadro"),
        ("aniversário do Rui", "O aniversário do Rui é em janeiro, quem diria"),
        ("principal", "Esta é a agenda principal da casa, mas não a única"),
        ("Küche", "Die Küche ist von der Stadt und nicht vom Land"),
    ],
)
def test_a_question_that_shows_no_language_meets_the_texts_of_one(asked: str, said: str) -> None:
    held = set(terms(said))
    for term, forms in asked_terms(asked, {"german", "portuguese"}):
        assert held & {term, *forms}, term


@pytest.mark.parametrize(
    ("captured", "wanted"),
    [
        ("2023-05-08", "8 may 2023"),
        ("2023-12-31T10:00:00Z", "31 december 2023"),
        ("2023-13-01", ""),
        ("2023-00-01", ""),
        ("undated", ""),
        ("", ""),
    ],
)
def test_a_day_is_spelled_as_people_ask_for_it(captured: str, wanted: str) -> None:
    assert date_words(captured) == wanted


@given(st.text(max_size=80))
def test_no_text_breaks_the_cut_and_no_term_could_leave_its_quotation(text: str) -> None:
    for term in (*index_terms(text).terms, *query_terms(text)):
        assert term
        assert not set(term) & set("\"' \t\n\0")


@pytest.mark.parametrize(
    ("text", "language"),
    [
        (
            "A table of clerks in Needham, MA: Dana, MA; Robin, MA; Alex, MA; all three are new.",
            "english",
        ),
        ("O forno fica ligado durante a noite e o gerente passa as sete para ver.", "portuguese"),
    ],
)
def test_a_word_that_another_language_has_does_not_decide_the_language(
    text: str, language: str
) -> None:
    assert index_terms(text).language == language


# -- kinds of answer: what a text may give, and what a question asks for ---------------------------


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


# -- who speaks in a text --------------------------------------------------------------------------

LONG = " Set the oven to 220 degrees and wait until it is hot." * 10
ANSWER = f"Certainly! Here is how to bake it:\n\n### Step 1: The oven\n{LONG}"


@pytest.mark.parametrize(
    ("subject", "text", "role"),
    [
        ("user", "I moved to Graz in May.", "u"),
        ("assistant", "Congratulations on the move!", "a"),
        ("ai assistant", "Congratulations on the move!", "a"),
        ("用户", "我五月搬家了。", "u"),
        ("ассистент", "Поздравляю!", "a"),
        ("", "**User:** I moved to Graz in May.", "u"),
        ("", "Assistant: Congratulations!", "a"),
        ("", ANSWER, "a"),
        ("mira", ANSWER, "a"),
        ("mira", "Certainly! I moved to Graz in May.", ""),
        ("mira", f"Certainly!{LONG}", ""),
        ("mira", f"The recipe.\n\n### Step 1: The oven\n{LONG}", ""),
        ("assistant", "The assistant answers in German.", ""),
        ("user", "User prefers tea.", ""),
        ("", "I moved to Graz in May.", ""),
        ("", "https://example.org: the assistant's page", ""),
    ],
)
def test_a_turn_is_known_by_its_name_and_its_form(subject: str, text: str, role: str) -> None:
    assert role_of(subject, text) == role


@pytest.mark.parametrize(
    ("question", "asks"),
    [
        ("which hotel did you recommend", True),
        ("what was your advice on the lease", True),
        ("the three exercises you gave me", True),
        ("which hotel did i book", False),
        ("did you know the hotel", False),
        ("what did mira recommend to you", False),
    ],
)
def test_a_question_asks_for_what_the_assistant_said(question: str, asks: bool) -> None:
    assert asks_assistant(question.split()) is asks


@pytest.mark.parametrize(
    ("text", "himself"),
    [
        ("That garden of yours!", False),
        ("I like your garden.", True),
        ("We dug it. What about you?", True),
        ("I've dug it.", True),
        ("The garden is dug.", False),
        ("the youth, the mist", False),
    ],
)
def test_a_text_says_something_of_who_speaks(text: str, himself: bool) -> None:
    assert of_self(frozenset(terms(text))) is himself
