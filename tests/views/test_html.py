"""No text of a memory is markup, and what is hidden in it is spelled out."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrepo.views.html import shown

TAG = '<span class="hid" title="TAG LATIN CAPITAL LETTER A">U+E0041</span>'


@given(st.text(max_size=30))
def test_no_text_becomes_markup(text: str) -> None:
    html = str(shown(text))
    tags = re.findall(r"<[^>]*>", html)
    assert all(re.fullmatch(r'<span class="hid"(?: title="[^"<>&]*")?>|</span>', t) for t in tags)
    bare = re.sub(r"<[^>]*>", "", html)
    assert not set(bare) & set("<>\"'\u202e\u2066\u200b\x00")
    html.encode()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a\u202eb", 'a<span class="hid" title="RIGHT-TO-LEFT OVERRIDE">U+202E</span>b'),
        ("👩\u200d👧", "👩\u200d👧"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("pass\u200dword", 'pass<span class="hid" title="ZERO WIDTH JOINER">U+200D</span>word'),
        ("heart ❤\ufe0f", "heart ❤\ufe0f"),
        ("a\nb\tc", "a\nb\tc"),
        ("x" + "\U000e0041" * 9, f'x{TAG}<span class="hid">and 8 more that are not seen</span>'),
    ],
)
def test_only_what_hides_is_spelled_out(text: str, told: str) -> None:
    assert str(shown(text)) == told
