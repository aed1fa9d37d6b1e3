"""Which line of newer texts is shown below a hit as later about the same."""

from __future__ import annotations

import msgspec
import pytest

from memrepo.policies.later import Text, later_line
from memrepo.policies.ranking import Corpus, question_of

OLD = (
    "- Devon drives the children at eight.\n- Our wiki runs on Quartz-2.\n- Soup is on Mondays.\n"
    "The wiki moved from Flint to Quartz-2."
)
CASES = [
    ("who drives the children", "Late shift. From May on Ruth drives the children.", True),
    ("which host runs the wiki", "The wiki moved off Quartz-2 last night.", True),
    ("which host runs the wiki", "Quartz-2 is in the drawer now.", False),
    ("which host runs the wiki", "Does the wiki run on Quartz-2?", False),
    ("which host runs the wiki", "> The wiki runs on Quartz-2 no more, she wrote.", False),
    ("who drives the children", "Ines had soup.", False),
    ("which host runs the wiki", "Bought hooks for the hall.", False),
    ("which host runs the wiki", "Our wiki runs on Quartz-2.", False),
    ("is Ines fond of soup", "Ines has moved to a new desk now.", False),
    ("does Devon drive the children at eight", "The children go by bus from now on.", False),
    ("does Devon drive the children at eight", "The children walk at eight from now on.", True),
    ("does Devon drive the children at eight", "The children had soup.", False),
    ("what is for lunch", "Ruth took the children to Flint, Quartz-2 and Devon.", False),
    ("which host runs the wiki", "- 2026-04-30: The wiki moved off Quartz-2.", False),
    ("which host runs the wiki", "- 2027-04-30: The wiki moved off Quartz-2.", False),
    ("which host runs the wiki", "- 2026-05-03: The wiki moved off Quartz-2.", True),
    ("which host runs the wiki", "- May 2026: The wiki moved off Quartz-2.", True),
    ("which host runs the wiki", "* The wiki moved from Flint to Quartz-2.", False),  # said already
]


def text(words: str, day: str, context: str = "memory", path: str = "log.md") -> Text:
    return Text(text=words, context=context, day=day, path=path)


def shown(hit: Text, question: str, *newer: Text, usual: tuple[str, ...] = ("run",)) -> str:
    asked = question_of(question, languages=("english",))
    forms = {form for term, own in asked.terms.items() for form in (term, *own)}
    holders = {term: 90 if term in usual else 2 for term in forms}
    found = later_line(hit, newer, Corpus(question=asked, holders=holders, size=400), "2026-12-31")
    return found[1] if found else ""


@pytest.mark.parametrize(("question", "line", "is_about"), CASES)
def test_a_newer_line_about_what_a_question_asks_is_found(
    question: str, line: str, is_about: bool
) -> None:
    found = shown(text(OLD, "2026-05-01"), question, text(f"Fed the cat.\n{line}", "2026-05-02"))
    assert found == (line if is_about else "")


@pytest.mark.parametrize(
    ("hit", "question", "line", "is_shown"),
    [
        (  # the question, and not the hit, has the words of the line
            "It runs Debian 11 with Postgres 13 behind nginx.",
            "Which Postgres is on staging?",
            "Spent the morning on staging: moved its database over to Postgres 16.",
            True,
        ),
        (
            "The staging server is reset on Mondays.",
            "The staging server is reset on Mondays.",
            "Ada cleaned the staging server. It is reset on Fridays now.",
            True,
        ),
    ],
)
def test_a_line_in_other_words_is_later_if_it_names_the_thing(
    hit: str, question: str, line: str, is_shown: bool
) -> None:
    old = text(hit, "2026-05-01", "Memory › Staging", "MEMORY.md")
    assert shown(old, question, text(line, "2026-05-09", "2026-05-09")) == line * is_shown


def test_of_several_lines_about_the_same_the_latest_is_shown() -> None:
    lines = ["The wiki moved off Quartz-2.", "The wiki is on Flint, Quartz-2 is sold."]
    newer = [text(line, f"2026-05-0{day}") for day, line in enumerate(lines, start=2)]
    assert shown(text(OLD, "2026-05-01"), "which host runs the wiki", *newer[::-1]) == lines[1]


def test_the_heading_above_a_line_in_its_text_counts() -> None:
    below = text("# Wiki\nMoved to Basalt.\n# Soup\nIt is hot.", "2026-05-02")
    assert shown(text(OLD, "2026-05-01"), "which host runs the wiki", below) == "Moved to Basalt."


def test_a_word_of_many_texts_tells_nothing() -> None:
    newer = text("The wiki moved off Quartz-2 last night.", "2026-05-02")
    usual = ("wiki", "quartz", "2")
    assert not shown(text(OLD, "2026-05-01"), "which host runs the wiki", newer, usual=usual)


HUBER = "We decided to give Huber a key to the cellar."


@pytest.mark.parametrize(
    ("old", "question", "line", "context", "is_later"),
    [
        ("- Food: urchins", "what food does the otter eat", "- Food: krill", "Otter", True),
        ("- Food: urchins", "what food does the otter eat", "- Food: krill", "Whale", False),
        ("- City: porto", "which city", "- Called porto about the card.", "", False),
        ("Red runs Kite 2.", "what is on the red host", "Blue runs Kite 3.", "Otter", False),
        ("The Huber invoice is 340 euros.", "how much is the Huber invoice", HUBER, "", False),
        ("The tram to Lund is Line 4.", "which line is the tram", "Bought a line.", "", False),
        ("The tram to Lund is Line 4.", "which line is the tram", "The tram is Line 6.", "", True),
        ("The Huber invoice is 340 euros.", "what about Huber", HUBER, "", True),
        ("The wheels are at Huber.", "where are the wheels", "The van is at Huber.", "", False),
        ("The wheels are at Huber.", "where are the wheels", "Sold the wheels to Huber", "", True),
        ("Tea is at 10:00.", "when is tea", "Will tea be at 11:00?", "", False),
        ("Tea is at 10:00.", "when is tea", "Drank tea from 10 cups.", "", True),
        ("Oak: 9 crowns\nAsh: 12 crowns", "what is the price of oak", "Oak: 12 crowns", "", True),
        ("Nora Orr answers mails.", "who answers mails", "Nora no longer has a desk.", "", False),
        ("Nora Orr answers mails.", "who answers mails", "Nora has a new desk.", "", False),
        ("Call Nora Orr on Mondays.", "who mends pipes", "Nora no longer has a desk.", "", False),
        ("Our whale eats krill.", "what does the whale eat", "- Squid since May.", "Whale", True),
        ("Our whale eats krill.", "what about the whale", "- 2026-05-02: It grew.", "Whale", True),
    ],
)
def test_a_line_that_shares_a_rare_word_of_the_question_with_the_hit_is_later(
    old: str, question: str, line: str, context: str, is_later: bool
) -> None:
    hit = text(old, "2026-05-01", "Animals › Otter", "animals.md")
    newer = text(line, "2026-05-02", f"Animals › {context}" if context else "2026-05-02")
    assert shown(hit, question, newer) == (line if is_later else "")


@pytest.mark.parametrize(
    ("question", "line", "is_about"),
    [
        ("when does the letter go out", "letter day: Wednesday", True),
        ("when does the letter go out", "**Letter day:** Wednesday", True),
        ("when does the letter go out", "letter day: Sunday", False),
        ("when does the mail go out", "letter size: A5", False),
    ],
)
def test_another_value_of_a_key_that_a_question_asks_for_is_later(
    question: str, line: str, is_about: bool
) -> None:
    old = text("- letter_day: Sunday\n- letter day: Sunday\n- links: 6", "2026-05-01")
    found = shown(old, question, text(f"Audience: 90\n{line}", "2026-05-02"))
    assert found == (line if is_about else "")


@pytest.mark.parametrize(
    ("line", "context", "is_shown"),
    [
        ("Prefers long mails on Mondays.", "Ines › Preferences", False),
        ("Prefers long mails on Mondays.", "Rasmus Holt › Preferences", True),
        ("Rasmus prefers long mails now.", "2026-05-02", True),
    ],
)
def test_a_line_about_another_person_than_that_of_the_note_is_not_shown(
    line: str, context: str, is_shown: bool
) -> None:
    hit = text("Prefers short mails.", "2026-05-01", "Rasmus Holt › Preferences")
    hit = msgspec.structs.replace(hit, subject="Rasmus Holt")
    found = shown(hit, "what mails does Rasmus prefer", text(line, "2026-05-02", context))
    assert found == (line if is_shown else "")


@pytest.mark.parametrize(
    ("old", "question", "line"),
    [
        ("Ines mends the barn's roof.", "who mends the barn", "Olaf mends the mill's roof."),
        ("The red kiln fires at 9.", "when does the red kiln fire", "The blue kiln fires at 7."),
        ("Ruth's tutor is Mr Holt.", "who is Ruth's tutor", "Olaf has a new tutor, Mr Berg."),
        ("El horno de Ana abre a las 6.", "cuando abre el horno", "La tienda de Ana abre a las 8."),
    ],
)
def test_a_line_that_says_the_same_of_another_thing_is_not_later(
    old: str, question: str, line: str
) -> None:
    assert not shown(text(old, "2026-05-01"), question, text(line, "2026-05-02"))


@pytest.mark.parametrize(
    ("old", "question", "line"),
    [
        ("Parcels go out on Mondays.", "when are parcels or letters out", "Mondays fail: letters."),
        ("Mops: cellar.", "where are mops and brooms stored", "Brooms are stored upstairs."),
        ("Oak is 9.", "what does oak cost", "Finished tonight: oak costs 12 from now on."),
    ],
)
def test_news_that_name_what_a_question_or_the_hit_names_are_later(
    old: str, question: str, line: str
) -> None:
    assert shown(text(old, "2026-05-01"), question, text(line, "2026-05-02")) == line
