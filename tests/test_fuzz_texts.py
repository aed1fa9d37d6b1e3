"""Every reader and detector takes any text: what it returns is a value, never an exception."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memrepo.actions.import_ import FORMATS
from memrepo.checks import find_problems
from memrepo.checks.rules import Scene
from memrepo.core import codec, secret_kinds
from memrepo.core.codec import split_header
from memrepo.core.secrets import redact
from memrepo.merge.tombstones import leave_out, plain, read_tombstone, statements
from memrepo.read.documents import read_lines
from memrepo.read.marks import printed_lines, without_private
from memrepo.read.notes import scan_notes
from memrepo.read.thoughts import scan

PIECES = st.sampled_from(
    [
        *("# ", "## ", "- ", "> ", "| a | b |\n|---|---|\n", "1. ", "- [x] ", "```", "---\n"),
        *("\n", "\n\n", "\r\n", "\r", "\t", " ", ": ", "<!-- ", " -->", "%%", "<private>"),
        *("mem-0123456789abcdef", "2026-03-01", "10:30", "~~", "**", "`", "[[", "]]", "[x](y.md)"),
        *("password", "API key", "IBAN", "DE89 3704 0044 0532-0130 00", "4111 1111 1111 1111"),
        *("SN20260105001122-33", "RE2024010001234-5", "ghp_" + "Fake1234" * 5, "&#112;", "%37"),
        *(
            *("\u200b", "\u202e", "\U000e0041", "\ud7ff", "\ufeff", "İ", "ß", "Ä", "密码："),
            *("كلمة السر",),
        ),
        *('{"a": ', "[", "}", '"', "\\u12", "id: x\n", "type: fact\n", "&a *a", "!!x", "\0"),
    ]
)
TEXTS = st.lists(st.one_of(PIECES, st.text(max_size=12)), max_size=25).map("".join)
BYTES = st.one_of(TEXTS.map(lambda text: text.encode("utf-8", "surrogatepass")), st.binary())
SOME = settings(max_examples=60, deadline=None)


@SOME
@given(TEXTS)
def test_detectors_return_spans_inside_the_text(text: str) -> None:
    folded = text.replace("İ", "i").lower()
    if len(folded) == len(text):
        for detector in (secret_kinds.formed, secret_kinds.labelled):
            for start, end, kind in detector(text, folded):
                assert 0 <= start < end <= len(text), kind
    clean, _ = redact(text)
    assert redact(clean) == (clean, ())
    assert without_private(text).count("\n") == text.count("\n")


@SOME
@given(BYTES)
def test_readers_of_sources_return_units_and_problems(data: bytes) -> None:
    for name in ("MEMORY.md", "memory/2026-03-01.md", "notes.txt"):
        lines = read_lines(name, data)
        assert all(1 <= n <= lines.count for n in (*lines.hidden, *lines.managed))
        for unit in (*scan(name, data).units, *scan_notes(name, data)[0]):
            assert 1 <= unit.lines[0] <= unit.lines[1] <= lines.count
            for one in statements(unit.text):
                assert plain(one.text) is not None
                assert one.text not in leave_out(unit.text, [one]) or unit.text.count(one.text) > 1
        assert printed_lines(lines.text) <= set(range(1, lines.count + 1))


@SOME
@given(BYTES)
def test_readers_of_own_files_return_values_or_problems(data: bytes) -> None:
    path = "memories/knowledge/2026-03/x-012345.md"
    memory, problems = codec.decode(path, data)
    severities = {"warning"} if not data.strip() else {"error"}  # an empty file is not yet written
    assert memory is not None or severities & {p.severity for p in problems}
    assert all(p.message for p in split_header(data, path).problems)
    assert read_tombstone("tombstones/x.md", data) is not None
    scene = Scene(files={path: data, "MEMORY.md": data, "views/LTMEMORY.md": data})
    for problem in find_problems(scene):
        assert "could not be checked" not in problem.message


@pytest.mark.parametrize("name", sorted(FORMATS))
@settings(max_examples=25, deadline=None)
@given(BYTES)
def test_readers_of_other_programs_return_records_and_problems(name: str, data: bytes) -> None:
    format_ = FORMATS[name]
    names = ("MEMORY.md", "conversations.json", "memory.json", "a/b.jsonl", "x.md")
    for path in filter(format_.wants, names):
        for found in format_.reader({path: data}):
            assert found is not None


def test_a_rule_that_fails_names_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    from memrepo import checks

    def failing(scene: Scene) -> list[object]:
        if "b.md" in scene.files:
            raise ValueError
        return []

    monkeypatch.setattr(checks, "FINDERS", (failing,))
    (problem,) = checks.find_problems(Scene(files={"a.md": b"", "b.md": b""}))
    assert (problem.path, problem.rule) == ("b.md", "file-unreadable")
    assert "ValueError" in problem.message
