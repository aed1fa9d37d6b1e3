"""Repositories of any size, as runs leave them: made without judging, for what comes after."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec

from benchmarks.measure import Machine
from memrepo.actions.landing import Landing, prepare
from memrepo.core.ids import claim_id, text_hash
from memrepo.core.layout import Layout
from memrepo.core.manifest import LOGIC_VERSION, SCHEMA_VERSION, Consumed, Manifest
from memrepo.core.memory import Memory, Source, Stamp
from memrepo.core.messages import Context
from memrepo.core.state import Create, State, Step, Write
from memrepo.store.repo import Repository, open_repository

START = datetime(2026, 1, 1, tzinfo=UTC)
OF_A_RUN = 5_000
OF_A_FILE = 100
_OF_A_HEADING = 20
_THINGS = (
    "pump lamp garden ledger river copper engine ticket window basket mirror hammer violin bridge"
    " castle anchor saddle feather lantern pepper marble button canvas harbor island jacket kettle"
    " ladder magnet needle orchard pencil quarry ribbon saffron timber urchin velvet walnut yarn"
    " zipper beacon cobalt dynamo ember fossil geyser hinge ivory jigsaw kernel lagoon meadow"
    " nectar onyx parcel quiver raft satchel thimble umber vessel wicker"
).split()
_ENDS = (
    "ford mill stead wick gate field brook moor shaw dale holm thorpe croft mere stone well ton"
    " beck combe den fold garth hurst ley march nook pool rigg stow toft vale wold"
).split()
_WHO = (
    "team crew guild office school club board circle family branch party desk studio shop depot"
    " agent tenant keeper warden baker tailor mason porter pilot grocer warder smith joiner glazier"
    " cooper chandler fuller"
).split()
_DOES = (
    "prefers uses keeps owns repairs orders paints measures rents stores cleans labels lends sells"
    " counts weighs polishes wraps carries insures trades stacks films sketches borrows donates"
    " displays inspects hides mends seals tests"
).split()
_WHERE = "from near behind under above beside past toward".split()


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """One line of a workspace, and where it stands there."""

    text: str
    file: str
    number: int
    subject: str


def line(number: int) -> str:
    """Return one statement; none equal, and words as in texts: few often said, many seldom."""
    mixed = number * 2654435761 % (1 << 32)
    names = [_name(mixed // 2048**place % 2048 + place * 601) for place in range(3)]
    who, does = _WHO[mixed // 5 % len(_WHO)], _DOES[mixed // 331 % len(_DOES)]
    where = _WHERE[mixed // 3 % len(_WHERE)]
    return f"The {names[0]} {who} {does} the {names[1]} {where} {names[2]} {number}."


def _name(number: int) -> str:
    thing = _THINGS[number % len(_THINGS)]
    return thing if number % 5 == 0 else thing + _ENDS[number // len(_THINGS) % len(_ENDS)]


def lines_of(count: int) -> Iterator[Line]:
    """Yield the lines of a workspace: a hundred to a file, with a heading above each twenty."""
    for number in range(count):
        file, at = divmod(number, OF_A_FILE)
        yield Line(
            text=line(number),
            file=f"memory/topic-{file:04}.md",
            number=at + 1 + 3 * (at // _OF_A_HEADING + 1),
            subject=_name(number // _OF_A_HEADING * 7).title(),
        )


def write_workspace(where: Path, found: Sequence[Line]) -> None:
    """Write the files that hold some lines, such that each stands where it says."""
    texts: dict[str, list[str]] = {}
    for one in found:
        said = texts.setdefault(one.file, [])
        if len(said) + 1 < one.number:
            said += ["", f"## {one.subject}", ""]
        said.append(f"- {one.text}")
    for name, said in texts.items():
        path = where / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join([*said, ""]), encoding="utf-8")


def hoard(machine: Machine, where: Path, count: int) -> None:
    """Make a repository and its workspace, `where/repo` and `where/ws`, of so many memories."""
    found = list(lines_of(count))
    write_workspace(where / "ws", found)
    machine.memrepo("init", str(where / "repo"), "--from", str(where / "ws"), where=where)
    with open_repository(where / "repo") as store:
        state = store.snapshot(store.head()).state()
        files = {one.file: (where / "ws" / one.file).read_bytes() for one in found}
        for at in range(0, count, OF_A_RUN):
            state = _land(store, state, found[at : at + OF_A_RUN], files, at // OF_A_RUN).state


def _land(
    store: Repository,
    state: State,
    found: Sequence[Line],
    files: dict[str, bytes],
    number: int,
) -> Landing:
    now = START + timedelta(hours=number)
    run = f"{now:%Y%m%dT%H%M%SZ}-{number:08x}"
    names = dict.fromkeys(one.file for one in found)
    paths = {name: store.layout.source(name) for name in names}
    blobs = {name: store.work.blob_id(files[name]) for name in names}
    taken = tuple(Write(path=paths[name], data=files[name]) for name in names)
    memories = [_memory(one, now) for one in found]
    manifest = Manifest(
        run=run,
        mode="incremental",
        judge="offline/1",
        profile="personal",
        base=store.head(),
        now=f"{now:%FT%TZ}",
        package="0",
        logic=LOGIC_VERSION,
        schema=SCHEMA_VERSION,
        consumed=tuple(Consumed(resource=paths[name], to=blobs[name]) for name in names),
        counts={"memories_new": len(found), "units": len(found)},
        judgements={memory.id: [_judged(memory)] for memory in memories},
    )
    record = Write(path=store.layout.manifest(run), data=manifest.to_bytes())
    steps = (
        Step(op="ingest", what=f"{len(taken)} sources", changes=taken),
        Step(
            op="create",
            what=f"{len(found)} memories",
            changes=tuple(Create(memory=memory) for memory in memories),
        ),
        Step(op="run", what="manifest and candidates", changes=(record,)),
    )
    landing = prepare(
        store,
        state,
        store.head(),
        steps,
        Context(actor="memrepo/0", run=run),
        now,
        merge=Step(op="run", what=f"{run}: {len(found)} new"),
    )
    store.land(landing.chain, run)
    return landing


def _judged(memory: Memory) -> dict[str, object]:
    digits = memory.id.removeprefix("mem-")
    verdict = {
        "candidate": f"cand-{digits}",
        "rationale": "base_fact,uncurated,specifics,detail",
        "strength": 2.62,
        "verdict": "promote",
    }
    return {
        "cluster": f"clust-{digits}",
        "confidence": "medium",
        "disposition": "new_claim",
        "freshness": "fresh",
        "rationale": "type_default,shape_3",
        "reason": "no_candidates_above_threshold",
        "route": "strong",
        "verdicts": [verdict],
    }


def _memory(one: Line, now: datetime) -> Memory:
    lead = f"{one.subject}: "
    text = lead + one.text
    id_ = claim_id(scope="", subject=one.subject, predicate="", object_="", text=text)
    source = Source(
        resource=Layout().source(one.file),
        lines=(one.number, one.number),
        text_hash=text_hash(one.text),
        captured=now.date().isoformat(),
        captured_from="commit",
    )
    fields = {
        "id": id_,
        "type": "preference" if "prefers" in one.text else "fact",
        "subject": one.subject,
        "created": now,
        "generated": Stamp(by="memrepo/0", at=now),
        "sources": (source,),
        "origin": "purifier",
    }
    path = Layout().memory(id_=id_, type_="fact", text=text, captured="")
    return Memory.of(path=path, fields=fields, body=text)
