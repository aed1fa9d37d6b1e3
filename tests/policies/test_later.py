"""Which line of newer texts is shown below a hit as later about the same."""

from __future__ import annotations

import pytest

from memrepo.policies.later import Text, Topic, later_line

OLD = "- Devon drives the children at eight.\n- Our wiki runs on Quartz-2.\n- Soup is on Mondays."
CASES = [
    ("who drives the children", "Late shift. From May on Ruth drives the children.", True),
    ("which host runs the wiki", "The wiki moved off Quartz-2 last night.", True),
    ("which host runs the wiki", "Quartz-2 is in the drawer now.", True),
    ("which host runs the wiki", "Does the wiki run on Quartz-2?", False),
    ("which host runs the wiki", "> The wiki runs on Quartz-2 no more, she wrote.", False),
    ("who drives the children", "Ines had soup.", False),
    ("which host runs the wiki", "Bought hooks for the hall.", False),
    ("which host runs the wiki", "Our wiki runs on Quartz-2.", False),
    ("is Ines fond of soup", "Ines has moved to a new desk now.", False),
]


def text(words: str, day: str, context: str = "memory", path: str = "log.md") -> Text:
    return Text(text=words, context=context, day=day, path=path)


def shown(hit: Text, question: str, *newer: Text, usual: tuple[str, ...] = ()) -> str:
    topic = Topic(hit=hit, question=question, unnamed=("ines",), languages=("english",))
    holders = {term: 90 if term in usual else 2 for term in topic.forms(topic.every)}
    found = later_line(topic, newer, topic.weights(holders, 400))
    return found[1] if found else ""


@pytest.mark.parametrize(("question", "line", "is_about"), CASES)
def test_a_newer_line_about_what_a_question_asks_is_found(
    question: str, line: str, is_about: bool
) -> None:
    found = shown(text(OLD, "2026-05-01"), question, text(f"Fed the cat.\n{line}", "2026-05-02"))
    assert found == (line if is_about else "")


def test_of_several_lines_about_the_same_the_latest_is_shown() -> None:
    lines = ["The wiki moved off Quartz-2.", "The wiki is on Flint, Quartz-2 is sold."]
    newer = [text(line, f"2026-05-0{day}") for day, line in enumerate(lines, start=2)]
    assert shown(text(OLD, "2026-05-01"), "which host runs the wiki", *newer[::-1]) == lines[1]


def test_a_word_of_many_texts_tells_nothing() -> None:
    newer = text("The wiki moved off Quartz-2 last night.", "2026-05-02")
    usual = ("wiki", "quartz", "2")
    assert not shown(text(OLD, "2026-05-01"), "which host runs the wiki", newer, usual=usual)


@pytest.mark.parametrize(
    ("heading", "later", "expected"),
    [
        ("Kiln › As of 2026-05-01", "Kiln › As of 2026-05-09", "A new burner is fitted."),
        ("Kiln › As of 2026-05-01", "Oven › As of 2026-05-09", ""),
        ("Kiln › 2026-05-01", "Kiln › 2026-05-09", ""),
    ],
)
def test_of_dated_states_of_one_thing_the_newest_speaks(
    heading: str, later: str, expected: str
) -> None:
    old = text("Bricks are stacked.", "2026-05-01", heading)
    assert shown(old, "what about bricks", text(expected or "No.", "2026-05-09", later)) == expected


@pytest.mark.parametrize(
    ("question", "line", "is_about"),
    [
        ("when does the letter go out", "letter day: Wednesday", True),
        ("when does the letter go out", "**Letter day:** Wednesday", True),
        ("when does the letter go out", "letter day: Sunday", False),
        ("when does the letter go out", "letter size: A5", False),
    ],
)
def test_another_value_of_a_key_that_a_question_asks_for_is_later(
    question: str, line: str, is_about: bool
) -> None:
    old = text("- letter_day: Sunday\n- letter day: Sunday\n- links: 6", "2026-05-01")
    found = shown(old, question, text(f"Audience: 90\n{line}", "2026-05-02"))
    assert found == (line if is_about else "")
