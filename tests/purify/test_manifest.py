"""A manifest is read strictly: what it says is compared, sorted and asked of git."""

from __future__ import annotations

import json

import pytest

from memrepo.core.manifest import Consumed, Manifest, Recorded, read_manifest
from memrepo.core.problems import Problem
from memrepo.purify.intake import Reader, SourceText, cursors, take_in

RUN = "20260301T090000Z-0123abcd"
BLOB = "a" * 40


def spelled(run: str = RUN, to: object = BLOB, from_: object = "") -> bytes:
    manifest = Manifest(
        run=run,
        mode="incremental",
        judge="offline",
        profile="personal",
        base="",
        now="",
        package="0",
        consumed=(Consumed(resource="sources/MEMORY.md", to=BLOB),),
    )
    record = json.loads(manifest.to_bytes())
    record["consumed"][0] |= {"to": to, "from": from_}
    return json.dumps(record).encode()


@pytest.mark.parametrize("run", [RUN, f"{RUN}-import"])
@pytest.mark.parametrize("to", [BLOB, "0" * 64, ""])
def test_what_runs_write_is_read(run: str, to: str) -> None:
    assert isinstance(read_manifest("runs/x.json", spelled(run, to)), Recorded)


@pytest.mark.parametrize(
    "data",
    [
        spelled(run="latest"),
        spelled(run="20269901T090000Z-0123abcd"),
        spelled(run=f"{RUN}-x"),
        spelled(run="99991231T235959Z-0123abcd"),
        spelled(to="HEAD"),
        spelled(to=None),
        spelled(from_="--all"),
        spelled(to="A" * 40),
        b"[]",
        b"{}",
    ],
)
def test_what_no_run_wrote_is_a_problem(data: bytes) -> None:
    found = read_manifest("runs/x.json", data)
    assert isinstance(found, Problem)
    assert found.rule == "manifest-unreadable"


@pytest.mark.parametrize(
    ("name", "kind"), [("MEMORY.md", "claims"), ("memory/2026-03-01.md", "notes")]
)
@pytest.mark.parametrize("from_", ["", "b" * 40])
def test_a_version_that_is_not_there_counts_as_not_consumed(
    name: str, kind: str, from_: str
) -> None:
    blobs = {"c" * 40: b"# Log\n\n- The deploy is on Friday at four.\n"}
    resource = f"sources/{name}"
    consumed = (Consumed(resource=resource, from_=from_, to=BLOB),)
    cursor = cursors([Recorded(run=RUN, consumed=consumed, refused=frozenset())])
    text = SourceText(
        name=name, resource=resource, blob="c" * 40, kind=kind, committed="2026-03-01"
    )
    intake = take_in([text], cursor, Reader([text], blobs.__getitem__), whole=False)
    assert [p.rule for p in intake.problems] == ["manifest-blob-missing"]
    assert intake.placed or intake.notes
    assert [entry.from_ for entry in intake.consumed] == [""]
