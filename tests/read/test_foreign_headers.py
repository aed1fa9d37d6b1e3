"""Headers of other programs' files: bounded, located, and never written."""

from __future__ import annotations

from pathlib import Path

import pytest
from driving import done, memories

from memrepo.read.documents import MAX_CHARACTERS, read_head

BOMB = "\n".join(
    ["a: &a [x, x, x, x, x, x, x, x]"]
    + [
        f"{now}: &{now} [{', '.join(['*' + old] * 8)}]"
        for old, now in zip("abcdefg", "bcdefgh", strict=True)
    ]
)


def text(header: str) -> str:
    return f"---\n{header}\n---\n\nThe pump is oiled in May.\n"


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("title: 2024-01-02", {"title": "2024-01-02"}),
        ("count: 012\nyes: no", {"count": "012", "yes": "no"}),
        ("run: !!python/object/apply:os.system [touch x]", {"run": "!!python/object/apply:"}),
        ("title: a: b\ntags: [p, q]", {"title": "a: b", "tags": ["p", "q"]}),
        ("one: 1\none: 2", {"one": "1"}),
        ("x: " + "[" * 500, {"x": ""}),
        ("name: *missing", {"name": "*missing"}),
    ],
)
def test_values_are_texts_and_nothing_is_constructed(
    header: str, expected: dict[str, object]
) -> None:
    head = read_head(text(header), "a.md")
    assert head.last == header.count("\n") + 3
    assert head.values.keys() == expected.keys()
    for key, value in expected.items():
        found = head.values[key]
        assert found == value or (isinstance(found, str) and found.startswith(str(value)))


def test_a_value_over_lines_at_the_margin_is_read() -> None:
    head = read_head(text("tags: [a,\nb]\ntitle: x"), "a.md")
    assert (head.values, head.problem) == ({"tags": ["a", "b"], "title": "x"}, None)


def test_a_header_that_becomes_body_is_a_problem() -> None:
    head = read_head(text("title: x\ntags: [a,\nb"), "a.md")
    assert (head.last, head.problem and head.problem.line) == (0, 3)


def test_an_alias_is_a_word_however_often_it_multiplies() -> None:
    head = read_head(text(BOMB), "a.md")
    assert head.problem is not None
    assert sum(len(str(value)) for value in head.values.values()) < 2 * len(BOMB)


def test_a_header_that_is_too_long_has_no_keys_and_stays_hidden() -> None:
    head = read_head(text("title: x\n" + "# filler\n" * (MAX_CHARACTERS // 9 + 1)), "a.md")
    assert not head.values
    assert head.body.strip() == "The pump is oiled in May."


def test_a_long_text_between_two_rules_is_body() -> None:
    body = text("The pump hums.\n" * (MAX_CHARACTERS // 15 + 1))
    assert read_head(body, "a.md").last == 0


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_the_lines_of_keys_and_body_are_those_of_the_file(end: str) -> None:
    lines = ["---", "# note", "title: x", "list:", "  - a", "...", "", "", "Body."]
    head = read_head(end.join(lines), "a.md")
    assert (head.at, head.last, head.body_line) == ({"title": 3, "list": 4}, 6, 9)


def test_a_vault_with_hostile_headers_is_imported_as_words(tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    vault.joinpath("bomb.md").write_text(text(f"title: Pump\n{BOMB}"))
    vault.joinpath("tag.md").write_text(
        text("title: Kettle\nrun: !!python/object/apply:os.system [touch owned]")
    )
    repo = tmp_path / "repo"
    done(tmp_path, "init", repo)
    answer = done(repo, "import", "obsidian", vault)
    noted = {(p["path"], p["rule"]) for p in answer["problems"]}
    assert {("bomb.md", "import-header"), ("tag.md", "import-header")} <= noted
    assert {m.title for m in memories(repo).values()} == {"Pump", "Kettle"}
    assert not list(tmp_path.rglob("owned"))
