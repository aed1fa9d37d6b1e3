from __future__ import annotations

import frontmatter
import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memrepo.checks.rules import all_rules
from memrepo.core import codec
from memrepo.core.codec import CodecError, decode, edit, encode
from memrepo.core.errors import Problem
from memrepo.core.memory import BY_NAME, ORDER, Memory, Stamp
from memrepo.core.patterns import Line, join_lines, split_lines
from tests.strategies import TRAPS, bodies, field_values, fields, memories

PATH = "memories/knowledge/2026-01/a-012345.md"
LOADERS = (yaml.SafeLoader, getattr(yaml, "CSafeLoader", yaml.SafeLoader))

slow = settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])

CANONICAL = b"""\
---
id: mem-0123456789abcdef
type: fact
title: "a: b"
tags: [infra, "no"]
created: 2026-11-21T00:00:00Z
generated: human:ada@example.org 2026-11-22T00:00:00Z
confidence: 0.5
pinned: true
links: [related mem-0123456789abcdef 0.5]
sources:
  - MEMORY.md:3-4, 2026-05-01
---

Staging runs in Frankfurt.
"""

UGLY = {
    "canonical": CANONICAL,
    "only a type": b"---\ntype: fact\n---",
    "no final newline": b"---\ntype: fact\n---\nbody",
    "crlf": b"---\r\ntype: fact\r\ntags: [a]\r\n---\r\n\r\nbody\r\nmore\r\n",
    "lone returns": b"---\rtype: fact\r---\r\rbody\rmore\r",
    "mixed line ends": b"---\r\ntype: fact\ntitle: t\r\n---\n\nbody  \r\nmore\n\nlast  \r\n \n",
    "byte order mark": "\ufeff---\ntype: fact\n---\n\nbody\n".encode(),
    "dots close": b"---  \ntype: fact\n... \nbody\n",
    "comments": b"---\n# who\ntype: fact # sure\n\n# what\ntags:\n  # one\n  - a # x\n  - b\n"
    b"# end\ntitle: t\n---\nbody\n",
    "foreign keys first": b"---\nname: x\nmetadata:\n  a: {b: [1, 2]}\n  c: |\n    x\n\n    # y\n"
    b"topics: [q]\ntype: fact\n---\n\n\n    indented\n\nbody\n\n\n",
    "keys out of order": b"---\ntitle: t\ntype: fact\nid: mem-0123456789abcdef\n---\nbody\n",
    "single quotes and folds": b"---\ntype: 'fact'\ntitle: >-\n  long\n  title\n"
    b"description: 'it''s'\nobject: |+\n  kept\n\n\npredicate: p\n\nscope: 'user:x'\n---\nbody\n",
    "plain over two lines": b"---\ntype: fact\ntitle: one\n  two\ntags: [a,\n  b]\n---\nbody\n",
    "margin list": b"---\ntype: fact\ntags:\n- a\n- b\nverified: {by: human:me}\n---\nbody\n",
    "indented header": b"---\n  type: fact\n  title: t\n---\nbody\n",
    "defaults written": b"---\ntype: fact\nstatus: active\nconfidence: 1\npinned: false\ntags: []\n"
    b"---\nbody\n",
    "empty values": b"---\ntype: fact\ntitle:\nsubject: ''\n---\n",
    "tabs in quotes and comments": b'---\ntype: fact # a\tb\ntitle: "a\tb"\nobject: |\n  a\tx\n'
    b"---\nbody\n",
    "block records": b"---\ntype: fact\nsources:\n  - resource: a.md\n    lines:\n      - 1\n"
    b"      - 2\n  - resource: b.md # why\n---\nbody\n",
    "more decimals": b"---\ntype: fact\nconfidence: 0.123456789\n---\nbody\n",
    "trailing blanks": b"---\ntype: fact   \n---\n   \n\nbody  \t\n\n  ",
    "body with rules": b"---\ntype: fact\n---\n\n---\n\ntext\n\n---\n",
    "blank lines only": b"---\ntype: fact\n---\n\n\n  ",
}


def read(data: bytes, path: str = PATH) -> Memory:
    memory, problems = decode(path, data)
    assert memory is not None, problems
    return memory


# Laws


@slow
@given(memories())
def test_a_written_memory_reads_the_same_for_us_and_for_yaml(memory: Memory) -> None:
    data = encode(memory)
    assert decode(memory.path, data) == (memory, ())
    assert edit(data, memory) == encode(read(data, memory.path)) == data
    written = [key for key in BY_NAME if codec.spelled(key, memory)]
    for loader in LOADERS:
        guessed = yaml.load(header_of(data), Loader=loader)
        assert list(guessed) == written
        assert guessed.get("tags", []) == list(memory.tags)
        for key in written:
            if isinstance(value := memory.fields[key], str) and not key.startswith("valid_"):
                assert guessed[key] == value
    assert frontmatter.loads(data.decode()).content == memory.body.strip()


def test_a_trap_of_yaml_stays_text_wherever_it_stands() -> None:
    traps = tuple(text for text in TRAPS if text)
    for title in traps:
        memory = Memory.of(PATH, {"type": "fact", "title": title, "tags": traps}, body="b")
        data = encode(memory)
        assert read(data) == memory
        guessed = yaml.load(header_of(data), Loader=LOADERS[-1])
        assert (guessed["title"], guessed["tags"]) == (title, list(traps))


def header_of(data: bytes) -> str:
    text = data.decode()
    return text[: codec.read_header(text, "").body_offset].strip().removesuffix("---")


@slow
@given(st.sampled_from(sorted(UGLY)), fields(), bodies())
def test_an_edited_file_holds_the_edited_memory(
    name: str, changes: dict[str, object], body: str
) -> None:
    data = UGLY[name]
    wanted = Memory.of(PATH, changes, body=body)
    edited = edit(data, wanted)
    assert read(edited) == wanted
    assert edit(edited, wanted) == edited
    assert foreign_lines(edited) == foreign_lines(data)
    assert edited.startswith(b"\xef\xbb\xbf") == data.startswith(b"\xef\xbb\xbf")


@slow
@given(memories(path=PATH), memories(path=PATH))
def test_an_edit_of_a_written_memory_leads_to_the_other(old: Memory, new: Memory) -> None:
    assert read(edit(encode(old), new)) == new


@slow
@given(st.sampled_from(sorted(UGLY)), st.data())
def test_one_changed_field_changes_only_its_own_lines(name: str, data: st.DataObject) -> None:
    before = UGLY[name]
    old = read(before)
    key = data.draw(st.sampled_from(sorted({*BY_NAME} - {"type"})))
    value = data.draw(field_values(BY_NAME[key]) | st.none())
    after = edit(before, old.with_fields({key: value}))
    assert lines_without(after, key) == lines_without(before, key)


@slow
@given(st.sampled_from(sorted(UGLY)), st.data())
def test_a_changed_body_changes_no_line_of_the_header(name: str, data: st.DataObject) -> None:
    before = UGLY[name]
    after = edit(before, read(before).with_fields({}, body=data.draw(bodies())))
    stop = codec.split_header(before, PATH).body_line - 1
    assert [t for t, _ in text_lines(after)[:stop]] == [t for t, _ in text_lines(before)[:stop]]
    assert text_lines(after)[: stop - 1] == text_lines(before)[: stop - 1]


@given(
    st.binary(max_size=60)
    | st.text(max_size=60).map(lambda text: text.encode("utf-8", "ignore"))
    | st.text("-.: a[]{}&*!#'\"|>?\t\n\r,%@<", max_size=30).map(str.encode)
)
@settings(max_examples=300)
def test_no_bytes_make_the_reader_raise(data: bytes) -> None:
    for framed in (data, b"---\n" + data + b"\n---\n", b"---\ntype: fact\nx: " + data + b"\n---\n"):
        memory, problems = decode(PATH, framed)
        is_refused = any(p.severity == "error" for p in problems)
        assert (memory is None) == (is_refused or not framed.strip())
        split = codec.split_header(framed, PATH)
        assert split.body_line >= 1


# Tables


@pytest.mark.parametrize("name", UGLY)
def test_reading_and_writing_an_ugly_file_changes_no_byte(name: str) -> None:
    assert edit(UGLY[name], read(UGLY[name])) == UGLY[name]


HEADERS: dict[str, tuple[str, dict[str, object], str]] = {
    "append": ("type: fact\n", {"title": "t"}, "type: fact\ntitle: t\n"),
    "before the first": (
        "type: fact\n",
        {"id": "mem-" + "0" * 16},
        "id: mem-0000000000000000\ntype: fact\n",
    ),
    "after its predecessor": (
        "tags: [a]\nx: 1\ntype: fact\n",
        {"title": "t"},
        "tags: [a]\nx: 1\ntype: fact\ntitle: t\n",
    ),
    "comment on the line stays": (
        "type: fact\ntags: [a] # why\n",
        {"tags": ("a", "b")},
        "type: fact\ntags: [a, b] # why\n",
    ),
    "comments inside move above": (
        "type: fact\ntags:\n  # one\n  - a # x\n",
        {"tags": ("b",)},
        "type: fact\n# one\n# x\ntags: [b]\n",
    ),
    "comment of a removed key stays": (
        "type: fact\ntitle: t # note\n",
        {"title": None},
        "type: fact\n# note\n",
    ),
    "a hash in quotes is no comment": (
        "type: fact\ntitle: '#1 # 2'\n",
        {"title": "x"},
        "type: fact\ntitle: x\n",
    ),
    "quotes over two lines": (
        'type: fact\ntitle: "a # b\n  c # d" # e\n',
        {"title": "x"},
        "type: fact\n# e\ntitle: x\n",
    ),
    "comment beside a block mark": (
        "type: fact\ntitle: | # a\n  b # c\n\n",
        {"title": "x"},
        "type: fact\ntitle: x # a\n",
    ),
    "a kept block keeps its length": (
        "type: fact\nobject: |+\n  a\n\ntitle: b\n\nx: 1\n",
        {"title": None},
        "type: fact\nobject: |+\n  a\n\nx: 1\n",
    ),
    "line end of the header": (
        "type: fact\r\nx: 1\r\ny: 2\r\n",
        {"title": "t"},
        "type: fact\r\ntitle: t\r\nx: 1\r\ny: 2\r\n",
    ),
    "indentation of the header": ("  type: fact\n", {"title": "t"}, "  type: fact\n  title: t\n"),
    "bare stays bare": (
        "type: fact\nverified: {by: human:me}\n",
        {"title": "t"},
        "type: fact\ntitle: t\nverified: {by: human:me}\n",
    ),
    "a second stamp makes a list": (
        "type: fact\nverified: {by: human:me}\n",
        {"verified": (Stamp(by="human:me"), Stamp(by="human:you"))},
        "type: fact\nverified: [human:me, human:you]\n",
    ),
    "a property without a value is none": (
        "type: fact\ntags:\naliases:\nverified:\ncreated:\n",
        {"tags": ("a",)},
        "type: fact\ntags: [a]\naliases:\nverified:\ncreated:\n",
    ),
}


@pytest.mark.parametrize("name", HEADERS)
def test_an_edit_of_the_header(name: str) -> None:
    before, changes, after = HEADERS[name]
    data = f"---\n{before}---\nbody\n".encode()
    assert edit(data, read(data).with_fields(changes)).decode() == f"---\n{after}---\nbody\n"


@pytest.mark.parametrize(
    ("before", "body", "after"),
    [
        pytest.param("a\nb\n", "a\nc", "a\nc\n", id="replaced line"),
        pytest.param("a\nb", "a\nb\nc", "a\nb\nc", id="no final newline stays so"),
        pytest.param("a  \nb  \n", "a  \nb\nc", "a  \nb\nc\n", id="blanks after the last word"),
        pytest.param("a  \nb  \n", "x\na  \nb", "x\na  \nb  \n", id="trailing blanks stay"),
        pytest.param("a\r\nb\nc\r\n", "a\nb\nx\nc", "a\r\nb\nx\r\nc\r\n", id="dominant end"),
        pytest.param("\n\n\na\n\n\n", "b", "\n\n\nb\n\n\n", id="blank lines around stay"),
        pytest.param("\na\n", "", "\n", id="emptied"),
        pytest.param("", "a", "\na\n", id="filled"),
        pytest.param("a\rx\n\nb\n", "a\n\nb", "a\r\n\nb\n", id="return before a line feed"),
    ],
)
def test_an_edit_of_the_body(before: str, body: str, after: str) -> None:
    data = f"---\ntype: fact\n---\n{before}".encode()
    edited = edit(data, read(data).with_fields({}, body))
    assert edited.decode() == f"---\ntype: fact\n---\n{after}"


@pytest.mark.parametrize(
    ("raw", "body"),
    [
        ("", ""),
        ("\n\n  \n", ""),
        ("\n    code\n\ntext  \nend  \n\n", "    code\n\ntext  \nend"),
        ("a\r\nb\rc\n", "a\nb\nc"),
        ("+++\na = 1\n+++\n", "+++\na = 1\n+++"),
        (
            "---\n\nrule above, and --- is no header\n---\n",
            "---\n\nrule above, and --- is no header\n---",
        ),
    ],
)
def test_the_body_of_a_file(raw: str, body: str) -> None:
    assert read(b"---\ntype: fact\n---\n" + raw.encode()).body == body


HEAD = "---\ntype: fact\n"
REFUSED = [
    ("file-too-large", "a" * (codec.MAX_BYTES + 1), 0, 0, ""),
    ("file-not-utf8", b"---\ntype: fact\n---\nab\xff", 4, 3, ""),
    ("file-nul", "---\ntype: fact\n---\na\n\0", 5, 1, ""),
    ("file-conflict", HEAD + "---\n\n<<<<<<< a\nx\n=======\ny\n>>>>>>> b\n", 5, 1, ""),
    ("file-conflict", "---\n<<<<<<< a\ntype: fact\n=======\n=======\n>>>>>>> b\n---\n", 2, 1, ""),
    ("file-lfs-pointer", "version https://git-lfs.github.com/spec/v1\noid sha256:0\n", 1, 1, ""),
    ("frontmatter-missing", "just text\n", 1, 1, ""),
    ("frontmatter-missing", "\n---\ntype: fact\n---\n", 1, 1, ""),
    ("frontmatter-unclosed", HEAD + "body\n", 1, 1, ""),
    ("frontmatter-syntax", HEAD + "title: a: b\n---\n", 3, 9, "title"),
    ("frontmatter-syntax", HEAD + "title: 'a\n---\n", 3, 8, "title"),
    ("frontmatter-syntax", HEAD + "title: [a\n---\n", 3, 8, "title"),
    ("frontmatter-not-mapping", "---\n- a\n---\n", 2, 1, ""),
    ("frontmatter-not-mapping", "---\n{type: fact}\n---\n", 2, 1, ""),
    ("frontmatter-second-header", HEAD + "---\n\n---\ntitle: t\n---\nbody\n", 5, 1, ""),
    ("frontmatter-duplicate-key", HEAD + "title: a\ntype: note\n---\n", 4, 1, "type"),
    ("frontmatter-duplicate-key", HEAD + "x: {a: 1, a: 2}\n---\n", 3, 11, "x"),
    ("frontmatter-duplicate-key", HEAD + "x:\n  a: 1\n  a: 2\n---\n", 5, 3, "x"),
    ("frontmatter-syntax", HEAD + "[a, b]: c\n---\n", 3, 1, ""),
    ("frontmatter-anchor", HEAD + "title: &a b\n---\n", 3, 8, "title"),
    ("frontmatter-anchor", HEAD + "title: *a\n---\n", 3, 8, "title"),
    ("frontmatter-anchor", HEAD + "title: !x [a]\n---\n", 3, 8, "title"),
    ("frontmatter-syntax", HEAD + "--- a\n---\n", 3, 1, "type"),
    ("frontmatter-not-mapping", "---\n--- a\n---\n", 2, 5, ""),
    ("frontmatter-syntax", HEAD + "x:\n\t- a\n---\n", 4, 1, "x"),
    ("frontmatter-syntax", HEAD + "title: |\n  \tx\n---\n", 4, 3, "title"),
    ("frontmatter-syntax", HEAD + "x:\n  a: b\n\t\n---\n", 5, 1, "x"),
    ("frontmatter-syntax", HEAD + "title: a\x07\n---\n", 3, 9, "title"),
    ("frontmatter-syntax", HEAD + "title: a\u2028b\n---\n", 3, 9, "title"),
    ("frontmatter-syntax", HEAD + "\ufefftitle: a\n---\n", 3, 1, ""),
    ("frontmatter-value", HEAD + "tags: [[[[[a]]]]]\n---\n", 3, 8, "tags.0"),
    ("frontmatter-syntax", HEAD + "x: " + "[" * 100_000 + "\n---\n", 3, 20, "x"),
    (
        "frontmatter-syntax",
        HEAD + "x:\n" + "".join(" " * n + "- \n" for n in range(1, 40)) + "---\n",
        20,
        18,
        "x",
    ),
    ("frontmatter-value", "---\ntype: thing\n---\n", 2, 7, "type"),
    ("frontmatter-missing-type", "---\ntype:\n---\n", 1, 1, "type"),
    ("frontmatter-value", HEAD + "pinned: yes\n---\n", 3, 9, "pinned"),
    ("frontmatter-value", HEAD + "created: 2026-02-30\n---\n", 3, 10, "created"),
    ("frontmatter-value", HEAD + "created: 0001-01-01T00:00:00+23:59\n---\n", 3, 10, "created"),
    ("frontmatter-value", HEAD + "tags:\n  - a\n  - {b: c}\n---\n", 5, 5, "tags.1"),
    (
        "frontmatter-value",
        HEAD + "sources:\n  - {resource: a}\n  - {resource: b, kind: c}\n---\n",
        5,
        25,
        "sources.1.kind",
    ),
    ("frontmatter-value", HEAD + "generated: {at: 2026-01-01}\n---\n", 3, 12, "generated.by"),
    ("frontmatter-missing-type", "---\n# note\n---\n", 1, 1, "type"),
]


def first_problem(text: str | bytes) -> Problem:
    memory, problems = decode(PATH, text if isinstance(text, bytes) else text.encode())
    assert memory is None
    return problems[0]


@pytest.mark.parametrize(
    ("rule", "text", "line", "column", "key"), REFUSED, ids=lambda value: str(value)[:30]
)
def test_a_refused_file_says_where_and_how_to_mend_it(
    rule: str, text: str | bytes, line: int, column: int, key: str
) -> None:
    problem = first_problem(text)
    assert (problem.rule, problem.line, problem.column, problem.key) == (rule, line, column, key)
    assert problem.path == PATH
    assert problem.fix
    assert "expected" in problem.message


def test_the_table_of_refusals_holds_every_rule() -> None:
    rules = {rule for rule in all_rules() if rule.startswith(("frontmatter-", "file-"))}
    assert {row[0] for row in REFUSED} | {"frontmatter-near-key", "file-unreadable"} == rules


@pytest.mark.parametrize(
    ("key", "meant"),
    [("tag", "tags"), ("Type", "type"), ("tittle", "title"), ("superceded_by", "superseded_by")],
)
def test_a_misspelt_key_is_kept_and_warned_of(key: str, meant: str) -> None:
    memory, problems = decode(PATH, f"---\ntype: fact\n{key}: x\n---\n".encode())
    assert memory == Memory.of(path=PATH, fields={"type": "fact"})
    assert [(p.severity, p.rule, p.line, p.key) for p in problems] == [
        ("warning", "frontmatter-near-key", 3, key)
    ]
    assert f"did you mean {meant}?" in problems[0].message


@pytest.mark.parametrize("key", ["related", "up", "cssclasses", "publish"])
def test_a_property_of_a_note_taking_program_is_no_misspelt_key(key: str) -> None:
    assert decode(PATH, f"---\ntype: fact\n{key}: x\n---\n".encode())[1] == ()


def test_a_file_that_does_not_decode_is_never_edited() -> None:
    with pytest.raises(CodecError) as caught:
        edit(b"---\ntype: fact\ntype: note\n---\n", Memory.of(path=PATH, fields={"type": "fact"}))
    assert caught.value.problem.rule == "frontmatter-duplicate-key"


@pytest.mark.parametrize(
    ("memory", "rule"),
    [
        (Memory(path=PATH), "frontmatter-missing-type"),
        (Memory.of(path=PATH, fields={"type": "fact", "title": "\ud800"}), "file-not-utf8"),
        (Memory.of(PATH, {"type": "fact"}, body="a\0"), "file-nul"),
        (
            Memory.of(PATH, {"type": "fact"}, body="a" * codec.MAX_BYTES),
            "file-too-large",
        ),
        (
            Memory.of(PATH, {"type": "fact"}, body="---\na: b\n---"),
            "frontmatter-second-header",
        ),
    ],
)
def test_what_no_file_can_hold_is_not_written(memory: Memory, rule: str) -> None:
    with pytest.raises(CodecError) as caught:
        encode(memory)
    assert caught.value.problem.rule == rule


def test_an_edit_that_would_read_differently_is_not_written() -> None:
    memory = Memory.of(path=PATH, fields={"type": "fact", "tags": ("a", "a")})
    with pytest.raises(CodecError):
        edit(b"---\ntype: fact\n---\n", memory)


# What the laws compare


def text_lines(data: bytes) -> list[Line]:
    return split_lines(data.decode())


def foreign_lines(data: bytes) -> list[str]:
    """The header's lines of keys that are not ours, with their line ends."""
    lines = text_lines(data)
    return [
        join_lines(lines[entry.first - 1 : entry.last])
        for entry in codec.split_header(data, PATH).entries
        if entry.key not in ORDER
    ]


def lines_without(data: bytes, key: str) -> list[Line]:
    """All lines but those of one key, and but comment lines, which may move out of it."""
    lines = text_lines(data)
    for entry in codec.split_header(data, PATH).entries:
        if entry.key == key:
            del lines[entry.first - 1 : entry.last]
    return [line for line in lines if not line[0].startswith("#") and line[0].strip()]


@pytest.mark.parametrize("broken", ["type: note", "title: a: b", "x: &here 1"])
def test_an_entry_that_cannot_be_parsed_hides_no_error_of_the_others(broken: str) -> None:
    text = f"---\ntype: fact\nstatus: bar\n{broken}\ncreated: yesterday\n---\n\nText.\n"
    memory, problems = codec.decode("memories/x.md", text.encode())
    assert memory is None
    assert sorted(p.line for p in problems) == [3, 4, 5]


@pytest.mark.parametrize(
    ("text", "line", "offset"),
    [
        pytest.param("# Title\n\n- a\n", 1, 0, id="no header"),
        pytest.param("", 1, 0, id="empty"),
        pytest.param("\ufeff# Title\n", 1, 1, id="byte order mark alone"),
        pytest.param("---\ntitle: a\n---\nbody\n", 4, 17, id="header"),
        pytest.param("\ufeff---\r\ntitle: a\r\n...\r\nbody", 4, 21, id="mark, crlf and dots"),
        pytest.param("---\ntitle: a\n---", 4, 16, id="nothing after it"),
        pytest.param("---\ntopics:\n- a\nx: [\n]\n---\nb", 7, 27, id="list at the margin"),
        pytest.param("---\n---\nbody", 3, 8, id="empty header"),
        pytest.param("+++\na = 1\n+++\n", 1, 0, id="toml"),
        pytest.param("\n---\ntitle: a\n---\n", 1, 0, id="blank line first"),
    ],
)
def test_where_the_body_of_a_file_begins(text: str, line: int, offset: int) -> None:
    split = codec.split_header(text.encode(), "a.md")
    assert (split.body_line, split.body_offset, split.problems) == (line, offset, ())
    assert split.present == (line > 1)


@given(st.text("-.+a: \n\r\t#\ufeff\x0b\x85\u2028", max_size=40))
def test_line_and_offset_name_the_same_place(text: str) -> None:
    split = codec.split_header(text.encode(), "a.md")
    lines = split_lines(text)
    body = text[split.body_offset :]
    assert join_lines(lines) == text
    assert all(end for _, end in lines[:-1])
    assert join_lines(lines[split.body_line - 1 :]) == body or split.body_line == 1


def test_entries_know_their_lines() -> None:
    split = codec.split_header(
        b"---\na: 1\n\nb:\n  - x\n  - y # z\n\n# c\nd: |\n  t\n---\n", "a.md"
    )
    assert [(e.key, e.value, e.first, e.last) for e in split.entries] == [
        ("a", "1", 2, 2),
        ("b", ["x", "y"], 4, 6),
        ("d", "t\n", 9, 10),
    ]


@pytest.mark.parametrize("after", ["mood: good\n", "", "# note\nmood: good\n"])
def test_a_key_without_a_value_has_no_line_of_the_next(after: str) -> None:
    text = f"---\ntype: fact\n? title\n{after}---\nbody\n"
    split = codec.read_header(text, "a.md")
    assert (split.entries[1].first, split.entries[1].last) == (3, 3)
    data = text.replace("title", "colour").encode()
    memory, _ = codec.decode("a.md", data)
    assert memory is not None
    edited = codec.edit(data, memory, {"colour": ["colour: red"]})
    assert edited.decode() == text.replace("? title", "colour: red")


@pytest.mark.parametrize(
    ("lines", "value", "last"),
    [
        ("x: [a,\nb,\nc]", ["a", "b", "c"], 4),
        ('x: "open\nclose"', "open close", 3),
        ("x: {a: b,\n# note\nc: d}", {"a": "b", "c": "d"}, 4),
    ],
)
def test_brackets_and_quotes_hold_lines_at_the_margin(lines: str, value: object, last: int) -> None:
    split = codec.read_header(f"---\n{lines}\ny: z\n---\n", "a.md")
    assert not split.problems
    assert [(e.key, e.value, e.last) for e in split.entries] == [
        ("x", value, last),
        ("y", "z", last + 1),
    ]
