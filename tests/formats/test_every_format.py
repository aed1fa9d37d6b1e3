"""Every format that is read has an example, and what it brings goes out and comes in again whole.

A format without an example in `foreign_memory.FOLDERS` fails here.
"""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from foreign_memory import FOLDERS

from memrepo.actions.export import jsonl
from memrepo.actions.import_ import FORMATS
from memrepo.core.layout import Layout
from memrepo.core.memory import Stamp
from memrepo.core.state import State, Update, apply, read_state
from memrepo.formats.plan import ImportTerms, take
from memrepo.formats.readers import ImportRecord
from memrepo.merge.states import closure

NOW, LATER = datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 3, 9, tzinfo=UTC)
EMPTY = read_state({}, Layout())
STRANGERS = {"picture.png": b"\x89PNG\0", "program.exe": b"MZ\0"}


def imported(
    format_: str, files: dict[str, bytes], onto: State = EMPTY, now: datetime = NOW
) -> State:
    """Return a state after an import of what a format wants of some files."""
    one = FORMATS[format_]
    wanted = {name: data for name, data in files.items() if one.wants(name)}
    terms = ImportTerms(format=format_, profile="personal", now=now)
    return apply(onto, take(onto, one.read(wanted), terms).changes)


# Our own formats are what another one's example is after it was written out.
EXAMPLES = {**FOLDERS, "jsonl": jsonl(imported("obsidian", FOLDERS["obsidian"]).memories.values())}


def test_every_format_has_an_example_and_every_example_a_format() -> None:
    assert set(EXAMPLES) == set(FORMATS)
    assert all(format_.what for format_ in FORMATS.values())


@pytest.mark.parametrize("format_", sorted(FORMATS))
def test_an_example_is_wanted_and_a_stranger_is_not(format_: str) -> None:
    wants = FORMATS[format_].wants
    assert any(wants(name) for name in EXAMPLES[format_])
    assert not any(wants(name) for name in STRANGERS)


@pytest.mark.parametrize("format_", sorted(FORMATS))
def test_what_it_brings_holds_together_and_comes_once(format_: str) -> None:
    state = imported(format_, EXAMPLES[format_])
    assert len(state.memories) > 1
    assert closure(state) == ()
    assert state.problems == ()
    assert imported(format_, EXAMPLES[format_], state, LATER) == state
    assert imported(format_, {**EXAMPLES[format_], **STRANGERS}) == state


@pytest.mark.parametrize("format_", sorted(FORMATS))
def test_what_it_brings_goes_out_and_comes_in_again_whole(format_: str) -> None:
    state = imported(format_, EXAMPLES[format_])
    assert dict(imported("jsonl", jsonl(state.memories.values())).memories) == dict(state.memories)


# Format, file, what it says, what it says by now: one record of each format is reworded there.
REWORDED = {
    "artifacts": ("runtime/purified-claims.jsonl", b"red roses", b"white roses"),
    "claude-code": ("release-freeze.md", b"nothing is merged", b"everything is merged"),
    "obsidian": ("Plot map.md", b"North is up", b"South is up"),
    "memory-fs": ("memory_fs/warm/my-checkpoint.md", b"in green", b"in blue"),
    "chatgpt": ("conversations.json", b"And which soil?", b"And which pot?"),
    "claude": ("conversations.json", b"Which ferry", b"Which boat"),
    "mcp-memory": ("memory.json", b"Plays the oboe", b"Plays the bassoon"),
    "claude-mem": ("claude-mem.db", b"moved to Redis", b"moved to Kafka"),
    "jsonl": ("memories.jsonl", b"North is up", b"South is up"),
}


def reworded(format_: str) -> dict[str, bytes]:
    """Return an example in which one file says something else."""
    name, old, new = REWORDED[format_]
    files = dict(EXAMPLES[format_])
    assert old in files[name]
    return {**files, name: files[name].replace(old, new)}


@pytest.mark.parametrize("format_", sorted(FORMATS))
def test_after_one_changed_record_one_memory_changes(format_: str) -> None:
    state = imported(format_, EXAMPLES[format_])
    after = imported(format_, reworded(format_), state, LATER)
    if format_ == "jsonl":  # the other repository may be the older one: the difference is named
        assert after == state
        return
    if format_ == "mcp-memory":  # an observation has no id there: another text is another memory
        assert {id_: after.memories[id_] for id_ in state.memories} == dict(state.memories)
        new = [after.memories[id_].body for id_ in after.memories.keys() - state.memories.keys()]
        assert new == ["Plays the bassoon"]
        return
    assert set(after.memories) == set(state.memories)
    (changed,) = [id_ for id_ in state.memories if after.memories[id_] != state.memories[id_]]
    assert REWORDED[format_][2].decode().lower() in after.memories[changed].body.lower()
    assert after.memories[changed].created == state.memories[changed].created
    assert closure(after) == ()
    assert imported(format_, reworded(format_), after, LATER) == after


@pytest.mark.parametrize("format_", sorted(FORMATS.keys() - {"jsonl"}))
def test_private_parts_of_a_record_are_left_out(format_: str) -> None:
    name, old, _ = REWORDED[format_]
    hidden = EXAMPLES[format_][name].replace(old, b"%%" + old[2:-2] + b"%%")
    state = imported(format_, {**EXAMPLES[format_], name: hidden})
    texts = [f"{m.title} {m.subject} {m.description} {m.body}" for m in state.memories.values()]
    assert not any(old[2:-2].decode() in text for text in texts)
    assert len(texts) >= len(imported(format_, EXAMPLES[format_]).memories) - 1


@pytest.mark.parametrize(
    ("name", "said", "kept", "rules"),
    [
        ("memory.json", "In Hugo, write <!--more--> after it.", None, []),
        ("memory.json", "In LaTeX notes, %% starts a remark and %% ends it.", "ends", ["private"]),
        ("memory.json", "The well is deep. <private>Ines is ill.</private>", "well", ["private"]),
        ("page.md", "The well is deep. <!-- Ines is ill. -->", "well", ["private"]),
    ],
)
def test_a_record_loses_comments_of_markdown_only_and_is_named(
    name: str, said: str, kept: str | None, rules: list[str]
) -> None:
    record = ImportRecord(path=name, text=said, type="fact", lines=(1, 1))
    found = take(EMPTY, [record], ImportTerms(format="mcp-memory", profile="personal", now=NOW))
    assert [p.rule for p in found.problems] == [f"import-{rule}" for rule in rules]
    (memory,) = apply(EMPTY, found.changes).memories.values()
    assert (kept or said) in memory.body
    assert (memory.body == said) == (kept is None)


@pytest.mark.parametrize("format_", sorted(FORMATS))
@pytest.mark.parametrize("key", ["verified", "generated"])
def test_what_a_person_confirmed_or_reworded_here_does_not_follow(format_: str, key: str) -> None:
    state = imported(format_, EXAMPLES[format_])
    ours = Stamp(by="human:vera@example.org", at=LATER)
    said = {key: (ours,) if key == "verified" else ours}
    touched = apply(state, [Update(id=id_, fields=said) for id_ in state.memories])
    one, files = FORMATS[format_], reworded(format_)
    records = one.read({name: data for name, data in files.items() if one.wants(name)})
    found = take(touched, records, ImportTerms(format=format_, profile="personal", now=LATER))
    after = apply(touched, found.changes)
    assert {id_: after.memories[id_] for id_ in touched.memories} == dict(touched.memories)
    if format_ != "mcp-memory":
        (problem,) = [p for p in found.problems if p.rule == "import-changed"]
        assert REWORDED[format_][0].endswith(problem.path)


def test_properties_of_a_vault_that_are_no_fields_are_kept_as_words() -> None:
    files = {"Hoe.md": b"---\ntags: [tool]\nprice: 12\nbought at: the mill\n---\nA hoe.\n"}
    (memory,) = imported("obsidian", files).memories.values()
    assert memory.body == "price: 12\nbought at: the mill\n\nA hoe."


def test_a_time_that_is_none_is_named_at_its_line() -> None:
    found = FORMATS["obsidian"].read({"Hoe.md": b"---\ntitle: Hoe\ndate: soon\n---\nA hoe.\n"})
    terms = ImportTerms(format="obsidian", profile="personal", now=NOW)
    assert {(p.line, p.message[:12]) for p in take(EMPTY, found, terms).problems} == {
        (3, "found 'soon'")
    }


def test_an_imported_note_has_no_comment_and_no_syntax_of_its_program() -> None:
    body = (
        b"> [!info] Permit\n> The office answers by post.\n\nSenger calls early. ^s1a2\n\n"
        b"deadline:: 2026-09-30\n\n%% a private guess %%\n\n```dataview\nTABLE port\n```\n"
    )
    (memory,) = imported("obsidian", {"Roof.md": body}).memories.values()
    assert memory.body == (
        "> Permit\n> The office answers by post.\n\nSenger calls early.\n\ndeadline: 2026-09-30"
    )


@pytest.mark.parametrize(
    ("block", "is_kept"),
    [
        ("```bash\nsudo mill restart\n\n    port:: 80 ^stone1\n```", True),
        ("~~~\nmill --dry\n~~~", True),
        ("````md\n```dataview\nTABLE port\n```\n````", True),
        ("```query-plan\nSCAN mills\n```", True),
        ("```dataviewjs\ndv.list()\n```", False),
        ("``` tasks\nnot done\n```", False),
        ("~~~mermaid\ngraph TD\n~~~", False),
    ],
)
def test_an_imported_note_keeps_its_code_but_no_blocks_of_programs(
    block: str, is_kept: bool
) -> None:
    note = f"When the mill stops:\n\n{block}\n\nThen call Senger.\n"
    (memory,) = imported("obsidian", {"Mill.md": note.encode()}).memories.values()
    shown = f"{block}\n\n" if is_kept else ""
    assert memory.body == f"When the mill stops:\n\n{shown}Then call Senger."
