"""Who speaks in a text."""

import pytest

from memrepo.policies.questions import asks_assistant, of_self, role_of
from memrepo.text.words import terms

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
