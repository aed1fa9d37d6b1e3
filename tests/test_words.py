"""The words of the project: every message is on record, and the dialect does not come back."""

from __future__ import annotations

import ast

import messages
import pytest
import words


def test_the_list_of_messages_is_fresh() -> None:
    found = messages.GOLDEN.read_text(encoding="utf-8")
    assert found == messages.listing(), "look at the change, then refresh it with: make docs"


def test_a_message_is_a_text_for_people_and_no_docstring_pattern_or_table() -> None:
    tree = ast.parse(
        '"""Return what it does."""\n'
        "x = f'{name} is not a file'\n"
        "y = regex('no file (?P<n>here)')\n"
        "z = 'one two three'.split()\n"
        "w = 'single'\n"
    )
    assert [*messages.messages(tree)] == [(2, "{} is not a file")]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("they mend it", ["mend"]),
        ("The page is drawn anew, one memory a line.", ["anew", "one memory a line"]),
        ("It stands beside the file.", ["stands", "beside"]),
        ("`mend` stands for itself and is left alone.", ["mend"]),
        ("The file is next to the page and is fixed.", []),
    ],
)
def test_a_word_of_the_table_is_found(text: str, found: list[str]) -> None:
    got = [what.partition(":")[0].strip("'") for _, what in words.wrong_words(text, "here")]
    assert sorted(got) == sorted(found)


def test_no_count_is_over_its_limit(capsys: pytest.CaptureFixture[str]) -> None:
    assert words.main([]) == 0, capsys.readouterr().out


def test_pages_and_messages_have_none_of_the_words() -> None:
    assert words.RULES["limits"]["messages"] == 0
    assert words.RULES["limits"]["pages"] == 0
