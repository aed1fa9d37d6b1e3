"""The words of the project: every message is on record, and the dialect does not come back."""

from __future__ import annotations

import messages
import pytest
import words


def test_the_list_of_messages_is_fresh() -> None:
    found = messages.GOLDEN.read_text(encoding="utf-8")
    assert found == messages.listing(), "look at the change, then refresh it with: make docs"


def test_no_count_is_over_its_limit(capsys: pytest.CaptureFixture[str]) -> None:
    assert words.main([]) == 0, capsys.readouterr().out


def test_pages_and_messages_have_none_of_the_words() -> None:
    assert words.RULES["limits"]["messages"] == 0
    assert words.RULES["limits"]["pages"] == 0
