"""Texts and names without a value: what goes, what stays, and what was hashed from it."""

from __future__ import annotations

import string
from collections.abc import Callable
from hashlib import sha1

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrepo.core.errors import UsageError
from memrepo.core.ids import claim_id, slugify, text_hash
from memrepo.core.layout import Layout, stamped, standing_of
from memrepo.core.memory import Memory, Source
from memrepo.core.state import traits
from memrepo.merge.purging import MARK, Edit, File, find, needles_of, prepare

VALUE = "Ana Núñez-Holt"
NEEDLES = needles_of([VALUE])


def edited(text: str, edit: Edit | None = None) -> str:
    """Return a text as an edit leaves it."""
    edit = edit or Edit(needles=NEEDLES, seed="s")
    return edit.file(text.encode("utf-8", "surrogateescape"), str).decode(
        "utf-8", "surrogateescape"
    )


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Ana Núñez-Holt was here.", "PURGED was here."),
        ("ANA NUNEZ HOLT", "PURGED"),
        ("ana_nunez_holt@example.org", "PURGED@example.org"),
        ("Ａｎａ　Ｎúñez–Holt", "PURGED"),
        ("An\u0301a Nun\u0303ez\u200b Holt", "PURGED"),
        ("AnaNúñezHolt", "PURGED"),
        ('{"said": "Ana N\\u00fa\\u00f1ez\\nHolt"}', '{"said": "PURGED"}'),
        ("ana%20n%C3%BA%C3%B1ez-holt.md", "PURGED.md"),
        ("Ana &amp; Núñez Holt", "PURGED"),
        ("| Ana | Núñez-Holt |", "| PURGED |"),
        ("the Ana Núñez-Holts of this town", "the PURGEDs of this town"),
        ("what Ana Núñez…", "what PURGED"),
        ("> Ana\n> Núñez-Holt left", "> PURGED\n>  left"),
        ("- Ana Núñez-\n  Holt left", "- PURGED\n   left"),
        ("Ana and Núñez Holt", "Ana and Núñez Holt"),
        ("banana nunez holt", "banPURGED"),
        ("by = Ana Núñez-Holt\nAna Núñez-Holt left", "by = PURGED\nPURGED left"),
        ("Ana\n\nNúñez-Holt", "Ana\n\nNúñez-Holt"),
        ("An a Núñez-Holt", "An a Núñez-Holt"),
        ("nothing of the kind", "nothing of the kind"),
    ],
)
def test_what_is_found_and_what_stands_in_its_place(text: str, left: str) -> None:
    assert edited(text).replace("PURGED…", "PURGED") == left


@pytest.mark.parametrize(
    ("value", "text", "found"),
    [
        ("+49 170 1234567", "call +49 (171) 123-45 67", False),
        ("+49 170 1234567", "call +49 (170) 123-45 67", True),
        ("Иван Петров", "ivan-petrov-zhivet-zdes", True),
        ("Иван Петров", "ИВАН  ПЕТРОВ", True),
        ("Łukasz Søby", "lukasz soby", True),
        ("Straße 7", "STRASSE-7", True),
        ("田中太郎", "昨日、田中太郎と", True),
        ("田中", "田中", True),
    ],
)
def test_other_scripts_and_numbers(value: str, text: str, found: bool) -> None:
    assert bool(find(text, needles_of([value]))) is found


@pytest.mark.parametrize("value", ["", "ab", "a-b", "…", "田"])
def test_a_value_of_too_few_letters_is_refused(value: str) -> None:
    with pytest.raises(UsageError, match="fewer than"):
        needles_of([value])


texts = st.text(alphabet=string.ascii_letters + string.digits + " -_.,\n…%&\\úñß田中\u0301\u200b")


@given(texts, texts)
def test_a_text_keeps_its_lines_and_all_that_is_not_the_value(before: str, after: str) -> None:
    for text in (before, f"{before}{VALUE}{after}", f"{before}\n{VALUE}\n{after}"):
        left = edited(text)
        assert left.count("\n") == text.count("\n")
        assert edited(left) == left
        assert find(left.replace(MARK, "\0"), NEEDLES) == [] or MARK in left


@pytest.mark.parametrize("kind", ["hot", "view"])
def test_a_page_of_ours_is_stamped_anew(kind: str) -> None:
    page = stamped(
        kind, "# People\n\n- Ana Núñez-Holt likes tea\nkey: ts-0123456789abcdef\n"
    ).decode()
    left = edited(page).encode()
    assert standing_of(kind, left) == "ours"
    assert b"PURGED likes tea" in left


@pytest.mark.parametrize(
    ("slug", "left"),
    [
        ("ana-nunez-holt-likes-tea", "purged-likes-tea"),
        ("tea-is-what-ana-nunez", "tea-is-what-purged"),
        ("tea-is-what-ana", "tea-is-what-ana"),
        ("nothing", "nothing"),
    ],
)
def test_a_slug_loses_what_its_bound_left_of_the_value(slug: str, left: str) -> None:
    edit = Edit(needles=NEEDLES, seed="s")
    assert edit.memory_name(f"{slug}-0a1b2c.md") == f"{left}-0a1b2c.md"


def memory(text: str, id_: str, **more: str) -> bytes:
    """Spell a memory that a run made."""
    lines = [f"id: {id_}", "type: fact", *(f"{key}: {value}" for key, value in more.items())]
    source = "{resource: sources/MEMORY.md, lines: [3, 3], text_hash: " + text_hash(text) + "}"
    head = "\n".join([*lines, "created: 2026-03-01T09:00:00Z", "sources:", f"  - {source}"])
    return f"---\n{head}\n---\n\n{text}\n".encode()


def born(text: str) -> str:
    """Return the id that a run gives to a claim."""
    return claim_id(scope="", subject="", predicate="", object_="", text=text)


def files(*rows: tuple[str, bytes]) -> Callable[[], list[File]]:
    """Return versions of files as `prepare` asks for them."""
    return lambda: [File(path, f"{n:040x}", data) for n, (path, data) in enumerate(rows)]


def test_what_was_hashed_from_the_value_is_hashed_anew() -> None:
    text, new_text = f"{VALUE} likes tea", "PURGED likes tea"
    old, other = born(text), born("The boat is called Ida")
    path = f"memories/knowledge/undated/{old[4:6]}/{slugify(text)}-{old[4:10]}.md"
    manifest = f'{{"x": "{old}", "path": "{path}"}}'.encode()
    source = f"# People\n\n- {text}\n- The boat is called Ida\n".encode()
    rows = files(
        ("sources/MEMORY.md", source),
        (path, memory(text, old)),
        ("memories/knowledge/undated/aa/ida.md", memory("The boat is called Ida", other)),
        ("runs/2026-03/20260301T090000Z-00000000.json", manifest),
        (f"corrections/2026-03-01-con-{'a' * 16}.md", f"## {old}\n\n## {other}\n".encode()),
        (f"corrections/2026-03-01-con-{'b' * 16}.md", f"## {other}\n".encode()),
    )
    edit = prepare(Edit(needles=NEEDLES, seed="s"), rows, Layout(), frozenset())
    new = edit.ids[old]
    assert new == Edit(needles=(), seed="s").another(old)
    assert edit.ids[text_hash(text)] == text_hash(new_text)
    assert other not in edit.ids
    assert [one for one in edit.ids if one.startswith("con-")] == [f"con-{'a' * 16}"]
    moved = f"memories/knowledge/undated/{new[4:6]}/purged-likes-tea-{new[4:10]}.md"
    assert edit.path(path) == moved
    assert edited(memory(text, old).decode(), edit) == memory(new_text, new).decode()
    assert edited(manifest.decode(), edit) == f'{{"x": "{new}", "path": "{moved}"}}'
    spoken = (Source(resource="sources/MEMORY.md", text_hash=text_hash(text)),)
    held = Memory.of(path, {"id": old}, "")
    for trait in traits(held, held.with_fields({"sources": spoken}, text)):
        assert trait[-12:] not in edited(f"- {trait}", edit)
    blob = edit.ids[f"{0:040x}"]
    new_source = edit.file(source, str)
    assert blob == sha1(b"blob %d\0" % len(new_source) + new_source).hexdigest()


def test_two_memories_that_differed_in_the_value_alone_stay_two() -> None:
    one, other = f"{VALUE} likes tea", "ANA_NUNEZ_HOLT likes tea"
    rows = [
        (f"memories/knowledge/{n}-{born(text)[4:10]}.md", memory(text, born(text)))
        for n, text in enumerate((one, other))
    ]
    edit = prepare(Edit(needles=NEEDLES, seed="s"), files(*rows), Layout(), frozenset())
    assert len({edit.ids[born(one)], edit.ids[born(other)]}) == 2


def test_a_word_of_the_value_alone_leaves_lists_and_not_sentences_of_a_page() -> None:
    page = stamped("view", "# Holt\n\nAll that Holt means.\n\n| Holt | 1 |\n- [Núñez](x.md)\n")
    rows = files(("views/TOPICS.md", page), ("memories/a/x.md", memory(VALUE, born(VALUE))))
    edit = prepare(Edit(needles=NEEDLES, seed="s"), rows, Layout(), frozenset())
    assert edit.file(page, str).decode().partition("\n")[2] == (
        "# PURGED\n\nAll that Holt means.\n\n| PURGED | 1 |\n- [PURGED](x.md)\n"
    )


def test_who_wrote_is_taken_out_of_name_and_address() -> None:
    edit = Edit(needles=NEEDLES, seed="s")
    for before, after in ((VALUE, b"PURGED"), ("ana.nunez.holt@a.org", b"PURGED@a.org")):
        assert edit.name(before.encode()) == after
    assert edit.name(b"Test Person") == b"Test Person"


@pytest.mark.parametrize(
    ("subject", "after"),
    [
        (
            "Supersede: Ann owns a boat. (was: Wit owns a boat.)",
            "(was: PURGED owns a boat.)",
        ),
        ("Supersede: Ann owns a boat. (was: de Wit owns a boat.)", "(was: PURGED owns"),
        ("Supersede: Ann owns a boat. (was: Witte owns a boat.)", "(was: Witte owns a boat.)"),
    ],
)
def test_the_rest_of_a_value_that_an_excerpt_cut_is_removed(subject: str, after: str) -> None:
    words = frozenset(("jan", "wit"))
    edit = Edit(needles=needles_of(["Jan de Wit"]), seed="s", words=words)
    found = edit.message(subject.encode(), str).decode()
    assert after in found
    assert edit.holds(f"tree {'0' * 40}\n\n{subject}".encode()) == (MARK in found)


@pytest.mark.parametrize(
    ("words", "left"), [((), "in the first hour…"), (("hour",), "in the first PURGED…")]
)
def test_a_short_word_before_a_cut_is_a_trace_only_if_nothing_else_has_it(
    words: tuple[str, ...], left: str
) -> None:
    edit = Edit(needles=needles_of(["hour of Zanzibar"]), seed="s", words=frozenset(words))
    assert (
        edit.message(b"Add: Ann swims in the first hour\xe2\x80\xa6", str).decode().endswith(left)
    )
    slug = "ann-and-the-others-swim-in-the-sea-at-the-first-hour"
    assert edit.memory_name(f"{slug}-0a1b2c.md").startswith(slug) is not bool(words)


@pytest.mark.parametrize(
    ("start", "is_ours"),
    [
        ("tree planting\n", False),
        ("object storage\n", False),
        ("{{toc}}\n", False),
        ('{"said": "', False),
        (f"tree {'0' * 40}\n", True),
        (f"object {'0' * 64}\n", True),
        ('{\n "base": "",\n "was": "', True),
    ],
)
def test_only_in_commits_and_records_a_cut_word_is_a_trace(start: str, is_ours: bool) -> None:
    edit = Edit(needles=needles_of(["hour of Zanzibar"]), seed="s", words=frozenset(("hour",)))
    text = f"{start}asks Olga to water them the first hour… of each day"
    assert bool(edit.holds(text.encode())) is is_ours
    assert (edited(text, edit) != text) is is_ours


@pytest.mark.parametrize("area", ["memories", "sources", "tombstones", "views"])
def test_a_sentence_of_memrepo_stays_unless_people_wrote_it_too(area: str) -> None:
    own = ("no codex to restart", "restart codex at night")
    rows = files((f"{area}/x.md", b"- We restart codex\n  at night.\n"))
    edit = prepare(Edit(needles=needles_of(["codex"]), own=own), rows, Layout(), frozenset())
    assert edit.own == (own if area == "views" else own[:1])
    assert edited("There is no codex to restart.", edit) == "There is no codex to restart."


def test_a_value_that_is_not_utf_8_is_found() -> None:
    needles = needles_of([b"Ortega\xe9".decode("utf-8", "surrogateescape")])
    assert find("the card of Ortega\udce9 here", needles) == [(12, 18)]


@pytest.mark.parametrize(
    "slug", ["jan-20de-20wit", "jan-nbsp-de-nbsp-wit", "jan20de20wit", "jan-de-wit"]
)
def test_a_slug_that_was_made_from_escapes_is_found(slug: str) -> None:
    edit = Edit(needles=needles_of(["Jan de Wit"]), seed="s")
    path = f"memories/knowledge/2026-01/{slug}-0a1b2c.md"
    assert slug not in edit.path(path)
