"""The page of a review: its structure, and that nothing in a memory is ever markup."""

from __future__ import annotations

import base64
import hashlib
import re
import time
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrepo.core.differences import differences
from memrepo.core.memory import Memory, Source
from memrepo.core.state import Files, State
from memrepo.views.html import shown
from memrepo.views.review import Change, Decision, Evidence, Review
from memrepo.views.review_page import review_page

HOSTILE = (
    '</style><script>alert(1)</script><img src=x onerror="a()"> & "q" \'s\' <!-- {{ 7 * 7 }} '
    "]]> javascript:alert(1) \u202egnp.exe\u202c \u200b\u0007"
)
TAG = '<span class="hid" title="TAG LATIN CAPITAL LETTER A">U+E0041</span>'
VOID = {"meta", "br", "img", "link", "input", "hr", "base"}


class Page(HTMLParser):
    """A page as a browser would see it: elements with attributes, balanced, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.sheet = ""
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1:] == ["style"]:
            self.sheet += data
        else:
            self.text += data

    def named(self, tag: str) -> list[dict[str, str | None]]:
        return [attrs for name, attrs in self.elements if name == tag]


def memory(n: int, body: str, path: str = "", **fields: object) -> Memory:
    path = path or f"memories/knowledge/m-{n:06x}.md"
    return Memory(path=path, body=body, fields={"id": f"mem-{n:016x}", "type": "fact", **fields})


def review(before: list[Memory], after: list[Memory], **more: str) -> Review:
    def state(found: list[Memory]) -> State:
        return State(files=Files({}, {}), memories={m.id: m for m in found})

    end = state(after)
    changes = []
    for one in differences(state(before), end):
        by = one.after.texts("superseded_by") if one.after else ()
        changes.append(
            Change(
                difference=one,
                judged=more.get("judged", ""),
                successors=tuple(end.memories[i] for i in by),
                decisions=(
                    Decision(
                        op="create",
                        reason=more.get("why", "so"),
                        actor="memrepo/1",
                        commit="c" * 40,
                    ),
                ),
                evidence=tuple(
                    Evidence(source=s, mark="new", text=((3, more.get("quote", "q")),))
                    for s in one.memory.sources
                ),
            )
        )
    return Review(
        title=more.get("title", "r1"),
        state="waits",
        base="a" * 40,
        tip="b" * 40,
        run="r1",
        reason=more.get("reason", ""),
        facts=(("judge", more.get("judge", "j")),),
        files={more.get("folder", "views"): 1},
        changes=tuple(changes),
    )


def hostile() -> Review:
    source = Source(resource=f"sources/{HOSTILE}.md", lines=(3, 3), captured="2026-01-01")
    before = [memory(1, f"one {HOSTILE}"), memory(2, f"old {HOSTILE}"), memory(3, "x", title="a")]
    after = [
        memory(1, f"two {HOSTILE}"),
        memory(3, "x", title=HOSTILE, tags=(HOSTILE,)),
        memory(2, f"old {HOSTILE}", status="superseded", superseded_by=("mem-" + "0" * 15 + "4",)),
        memory(4, f"new {HOSTILE}", path=f"memories/{HOSTILE}.md", sources=(source,)),
    ]
    return review(
        before,
        after,
        title=HOSTILE,
        reason=HOSTILE,
        why=HOSTILE,
        judged=HOSTILE,
        judge=HOSTILE,
        quote=HOSTILE,
        folder=HOSTILE,
    )


def test_hostile_text_adds_no_element_and_no_attribute() -> None:
    page = Page(review_page(hostile()))
    tame = Page(review_page(review([memory(1, "one")], [memory(1, "two"), memory(4, "new")])))
    names = {name for name, _ in page.elements}
    assert not names & {"script", "img", "iframe", "link", "form", "object", "base"}
    assert page.text.count("<script>alert(1)</script>") >= 8
    assert "{{ 7 * 7 }}" in page.text
    attributes = {key for _, attrs in page.elements for key in attrs}
    assert not [key for key in attributes if key.startswith("on") or key in ("style", "src")]
    assert {a["href"] for a in page.named("a")} >= {a["href"] for a in tame.named("a") if a}
    assert all(str(a["href"]).startswith("#") for a in page.named("a"))
    assert page.sheet == tame.sheet


def test_hidden_characters_are_spelled_out() -> None:
    raw = review_page(hostile())
    assert not set(raw) & set("\u202e\u202c\u200b\u0007")
    assert "U+202E" in raw
    assert "RIGHT-TO-LEFT OVERRIDE" in raw


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


def test_the_policy_lets_in_this_style_sheet_and_nothing_else() -> None:
    page = Page(review_page(hostile()))
    (policy,) = [m["content"] for m in page.named("meta") if "http-equiv" in m]
    digest = base64.b64encode(hashlib.sha256(page.sheet.encode()).digest()).decode()
    assert policy == (
        f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    )
    assert "url(" not in page.sheet
    assert "@import" not in page.sheet


def test_contents_lead_to_each_kind_and_ids_are_there_to_copy() -> None:
    pair = memory(5, "old", status="superseded", superseded_by=("mem-" + "0" * 15 + "6",))
    page = Page(
        review_page(
            review(
                [memory(1, "a b c"), memory(5, "old")],
                [memory(1, "a b d"), pair, memory(6, "newer")],
            )
        )
    )
    ids = [attrs.get("id") for _, attrs in page.elements if attrs.get("id")]
    assert len(ids) == len(set(ids))
    assert {str(a["href"])[1:] for a in page.named("a")} <= set(ids)
    assert [s["id"] for s in page.named("section") if "id" in s] == [
        "superseded",
        "reworded",
        "added",
    ]
    assert len(page.named("del")) == len(page.named("ins")) == 2
    assert "memrepo accept r1 --except mem-0000000000000001" in page.text


def test_equal_reviews_give_equal_pages() -> None:
    assert review_page(hostile()) == review_page(hostile())


def test_a_thousand_changes_make_a_page_in_seconds() -> None:
    before = [
        memory(n, f"The server number {n} keeps the archive of the choir.") for n in range(999)
    ]
    after = [
        memory(n, f"The server number {n} keeps the backups of the choir.") for n in range(999)
    ]
    begun = time.process_time()
    page = Page(review_page(review(before, after)))
    assert time.process_time() - begun < 20
    assert len(page.named("article")) == 999


def test_where_nothing_changed_the_page_says_so() -> None:
    assert "No memory differs." in Page(review_page(review([], []))).text
