"""The purifier's promises, row by row: scoring, parsing, artifacts, views, reports and cadence."""

from __future__ import annotations

import json
import re
import shutil
import stat
import sys
import textwrap
from collections.abc import Callable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import serving
from driving import NEXT_DAY, configure, copied, done, files, git, memories, memrepo, standing
from seed_rows import assert_each_row_has_an_end, row
from workspaces import write

EIGHT = (
    *("purified-claims.jsonl", "purified-contradictions.jsonl", "purified-entities.json"),
    *("purified-routes.json", "purified-manifest.json", "purifier-last-run-summary.json"),
    *("deferred-candidates.jsonl", "rejected-candidates.jsonl"),
)
SCORES = """
durability future_judgment_value action_value identity_relationship_weight cross_time_persistence
noise_risk semantic_cluster_confidence canonical_clarity provenance_strength contradiction_pressure
freshness confidence route_fitness supersession_confidence
""".split()
HOUSE: Mapping[str, bytes] = {
    "MEMORY.md": b"""\
# Memory

## Boats

- The ferry to Moss leaves at 07:40 on weekdays.
- Ines decided to sell the old dinghy before winter.

## Diet

- vegan
""",
    "RTMEMORY.md": b"# Lessons\n\n- Never moor at the north pier when the wind is from the east.\n",
    "PROCEDURES.md": b"# Procedures\n\n## Winterise\n\n1. Drain the tank.\n2. Cover the deck.\n",
    "CHRONICLES.md": b"# Chronicles\n\n- 2025-11-03: Ines passed the skipper's exam in Horten.\n",
    "DREAMS.md": b"# Dreams\n\n- One day Ines wants to sail around Iceland alone.\n",
    "CONSTITUTION.md": b"# Constitution\n\n- The house never lends its boats to strangers.\n",
    "LTMEMORY.md": b"# Long-term memory\n\n- A purified line about the lighthouse in Kvitsoy.\n",
    "episodes/2026-02-14.md": b"""\
# 2026-02-14: The broken rudder

Ines found the rudder cracked near Drobak and had it towed to the yard of Brandt.
""",
    "memory/2026-02-20.md": b"""\
# 2026-02-20

- ok thanks
- Decided: the crew of the Solveig meets each Thursday evening from March on.
- maybe ask Brandt about paint
""",
}


def test_the_table_is_whole() -> None:
    assert_each_row_has_an_end(sys.modules[__name__], 84)


def program(path: Path, body: str) -> Path:
    """Write a judge that is a program: `question` holds what it is asked, `say` answers."""
    head = f"""\
        #!{sys.executable}
        import json, sys
        sys.path.insert(0, {str(Path(serving.__file__).parent)!r})
        from serving import evidence, good, operations
        question = sys.stdin.read()
        found = evidence(question)
        say = sys.stdout.write
        """
    path.write_text(textwrap.dedent(head) + textwrap.dedent(body), encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def ask(repo: Path, body: str, *options: str, now: str = NEXT_DAY) -> Any:
    """Run with such a judge; return the whole answer."""
    git(repo, "config", "memrepo.judge.command", str(program(repo.parent / "judge", body)))
    return memrepo(repo, "run", "--judge", "command", *options, now=now)


def house(base: Path, *options: str, more: Mapping[str, bytes] | None = None) -> Path:
    """Make a repository of the house that has not run."""
    workspace = write(base / "workspace", {**HOUSE, **(more or {})})
    done(base, "init", base / "repo", "--from", workspace, "--tz", "Asia/Manila", *options)
    return base / "repo"


@pytest.fixture(scope="module")
def _ran(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("house")
    done(house(base), "run")
    return base


@pytest.fixture
def ran(_ran: Path) -> Path:
    """Return the house after one run of the rules; read only."""
    return _ran / "repo"


@pytest.fixture
def mine(_ran: Path, tmp_path: Path) -> Path:
    """Return a copy of it that a test may change."""
    return copied(_ran, tmp_path)


@pytest.fixture(scope="module")
def _exported(_ran: Path) -> dict[str, bytes]:
    done(_ran / "repo", "export", "artifacts", _ran / "runtime")
    return files(_ran / "runtime")


@pytest.fixture
def exported(_exported: dict[str, bytes]) -> dict[str, bytes]:
    """Return the artifacts of that repository by name."""
    return _exported


def lines(files_: Mapping[str, bytes], name: str) -> list[dict[str, Any]]:
    return [json.loads(one) for one in files_[name].decode().splitlines()]


def claims(files_: Mapping[str, bytes]) -> list[dict[str, Any]]:
    """Return the exported claims of the house."""
    found = lines(files_, "purified-claims.jsonl")
    assert len(found) == 9
    return found


# -- what the model is asked, and what is taken of its answer ----------------------------------


LINES = (
    "The boiler in Moss is serviced each October.",
    "Ines never eats peanuts because of an allergy.",
    "The cabin in Horten is booked for July 2026.",
)
PURIFIER = ("migrating.md", "Differences from memory-purifier")
DERIVED = (*PURIFIER, "scores are derived")
JOINED = (*PURIFIER, "joins them")


class Sitting:
    """A repository whose first question waits; each answer is given to it afresh."""

    def __init__(self, base: Path) -> None:
        said = "# Memory\n\n" + "".join(f"- {one}\n" for one in LINES)
        workspace = write(base / "workspace", {"MEMORY.md": said.encode()})
        done(base, "init", base / "repo", "--from", workspace)
        self.repo = base / "repo"
        self.first = done(self.repo, "judge", "next")["question"]
        shutil.copytree(self.repo / ".git" / "memrepo", base / "asked")

    def answer(self, *texts: str) -> dict[str, Any]:
        """Answer the first question, and the next ones; return what is asked or done then."""
        shutil.rmtree(self.repo / ".git" / "memrepo")
        shutil.copytree(self.repo.parent / "asked", self.repo / ".git" / "memrepo")
        found, path = {"question": self.first}, self.repo.parent / "answer.json"
        for text in texts:
            path.write_text(text, encoding="utf-8")
            id_ = found["question"]["id"]
            found = done(self.repo, "judge", "answer", id_, "../answer.json")
        return found

    def fault(self, *texts: str) -> str:
        """Return why the last of some answers was not usable, or an empty string."""
        asked = self.answer(*texts)["question"]
        found = re.search(r"not usable: (.*)\. Answer again", asked["data"])
        return found[1] if found else ""

    def reading(self, text: str = "Because of an allergy, Ines never eats peanuts.") -> str:
        """Return an answer whose only operation needs the second question."""
        row = {"op": "add", "lines": "F1:4", "text": text, "type": "fact"}
        return json.dumps({"run_id": "any", "operations": [row]})


@pytest.fixture(scope="module")
def sitting(tmp_path_factory: pytest.TempPathFactory) -> Sitting:
    return Sitting(tmp_path_factory.mktemp("sitting"))


def candidates(files_: Mapping[str, bytes]) -> list[dict[str, Any]]:
    """Return the exported statements that no memory states."""
    names = ("deferred-candidates.jsonl", "rejected-candidates.jsonl")
    found = [one for name in names for one in lines(files_, name)]
    assert found
    return found


def summed(one: dict[str, Any]) -> float:
    """Return the strength of a candidate by the formula."""
    *five, noise = one["scores"].values()
    return float(sum(five) - noise)


EACH: Mapping[str, Callable[[dict[str, Any]], bool]] = {
    "each of the six dimensions is a number from 0 to 1": lambda one: (
        [*one["scores"]] == SCORES[:6] and all(0 <= v <= 1 for v in one["scores"].values())
    ),
    "an emitted strength may differ from the formula by 0.01": lambda one: (
        abs(one["strength"] - summed(one)) <= 0.01
    ),
    "strength is the first five dimensions minus the noise risk": lambda one: (
        one["strength"] == pytest.approx(summed(one))
    ),
    "only compress names a compress target": lambda one: not one["compress_target"],
    "only merge names merge candidates": lambda one: not one["merge_candidate_ids"],
}
for _number, (_promise, _holds) in enumerate(EACH.items()):

    def _row(exported: dict[str, bytes], holds: Any = _holds) -> None:
        assert [one for one in candidates(exported) if not holds(one)] == []

    setattr(sys.modules[__name__], f"test_a_row_of_each_{_number}", row(_promise, "default")(_row))


@row("an emitted strength that is off by more than 0.01 is rejected", "documented", *DERIVED)
def test_a_row_strength_off(sitting: Sitting) -> None:
    assert "strength" not in json.dumps(sitting.first["schema"])


@row("the five verdicts are the only ones", "default")
def test_a_row_verdicts(silent: Path) -> None:
    for name, verdict in (("deferred", "defer"), ("rejected", "reject")):
        rows = lines(files(silent / "out"), f"{name}-candidates.jsonl")
        assert {one["verdict"] for one in rows} == {verdict}


@row("a verdict of compress names its target", "documented", *JOINED)
def test_a_row_compress_target(exported: dict[str, bytes]) -> None:
    assert {one["compress_target"] for one in candidates(exported)} == {None}


@row("each candidate is answered once", "default")
def test_a_row_once(exported: dict[str, bytes]) -> None:
    ids = [one["candidate_id"] for one in candidates(exported)]
    assert len(set(ids)) == len(ids)
    texts = [one["text"] for one in (*candidates(exported), *claims(exported))]
    assert len({*texts}) == len(texts) == 11  # all that the house states


@row("a candidate that is not answered is asked for again", "default")
def test_a_row_missing(sitting: Sitting) -> None:
    asked = sitting.answer(sitting.reading(), '{"assessments": []}')["question"]
    assert "it was not verified" in asked["data"]


READ = {
    "a bare JSON object is read directly": ("{}",),
    "a fenced answer is read, with or without a language": ("```json\n{}\n```", "```\n{}\n```"),
    "prose before, after and around the object is read past": (
        *("Sure! {}", "{}\nThat is all.", "So:\n```json\n{}\n```\nDone."),
    ),
}
for _promise, _forms in READ.items():

    def _read(sitting: Sitting, forms: tuple[str, ...] = _forms) -> None:
        for form in forms:
            found = sitting.answer(form.replace("{}", sitting.reading()))
            assert found["question"]["kind"] == "verify", form

    setattr(
        sys.modules[__name__], f"test_a_row_read_{len(_forms)}", row(_promise, "default")(_read)
    )


@row("an empty answer, or one of blanks, is refused at once", "default")
@pytest.mark.parametrize("text", ["", " \n\t "])
def test_a_row_empty(sitting: Sitting, text: str) -> None:
    assert sitting.fault(text) == "the answer is empty"


@row("a top level that is no object is refused, and named", "default")
@pytest.mark.parametrize(
    ("text", "kind"), [("[1, 2]", "an array"), ('"words"', "a string"), ("7", "number")]
)
def test_a_row_top_level(sitting: Sitting, text: str, kind: str) -> None:
    expected = f"the top level is {kind}, expected an object with the key operations"
    assert sitting.fault(text) == expected


@row("a first pass without its verdicts names the missing key", "default")
def test_a_row_no_verdicts(sitting: Sitting) -> None:
    assert sitting.fault('{"run_id": "r1", "answers": []}') == (
        "the required key operations is missing"
    )


@row("a second pass without its claims names the missing key", "default")
def test_a_row_no_claims(sitting: Sitting) -> None:
    fault = sitting.fault(sitting.reading(), '{"run_id": "r1"}')
    assert fault == "the required key assessments is missing"


@row("a reply repeats the id of its run", "documented", *PURIFIER, "run id")
def test_a_row_run_id(sitting: Sitting) -> None:
    said = json.loads(sitting.reading())
    del said["run_id"]
    assert sitting.answer(json.dumps(said))["question"]["kind"] == "verify"


@row("each failed answer leaves a log of every recovery step that was tried", "default")
def test_a_row_recovery(failed: list[dict[str, Any]]) -> None:
    for one in failed:
        assert [step.partition(":")[0] for step in one["recovery"]] == [
            *("direct", "fence", "scan", "cut")
        ]


@row("each failed answer is stored byte for byte", "default")
def test_a_row_raw(failed: list[dict[str, Any]]) -> None:
    assert [one["bytes"] for one in failed] == [RAW, RAW]


RAW = b"no answer \xff\xfe at all\r\n"


@pytest.fixture(scope="module")
def failed(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """Return what is stored of a run whose judge gave no answer, twice."""
    base = tmp_path_factory.mktemp("failed")
    body = f"sys.stdout.buffer.write({RAW!r})\n"
    assert ask(house(base), body).exit == 4
    found = sorted((base / "repo" / ".memrepo" / "failed").glob("*.json"))
    return [
        {**json.loads(path.read_text()), "bytes": path.with_suffix(".raw").read_bytes()}
        for path in found
    ]


@row("the prompts demand one JSON object and nothing around it", "default")
def test_a_row_discipline(sitting: Sitting) -> None:
    second = sitting.answer(sitting.reading())["question"]
    for question in (sitting.first, second):
        said = " ".join(question["instructions"].split())
        assert said.endswith("Answer with the JSON object only.")


@row("a memory carries the profile of the second pass", "default")
def test_a_row_eight(ran: Path) -> None:
    (one,) = (m for m in memories(ran).values() if "dinghy" in m.body)
    (shown,) = lines_of(ran, one.id)
    assert [*shown["scores"]] == SCORES[6:]
    assert shown["scores"]["confidence"] > 0.3


def lines_of(repo: Path, id_: str) -> list[dict[str, Any]]:
    """Return the exported claims of a memory."""
    out = repo.parent / f"one-{id_}"
    done(repo, "export", "artifacts", out, "--force")
    text = memories(repo)[id_].body
    return [one for one in lines(files(out), "purified-claims.jsonl") if one["text"] == text]


@row("an out-of-range score of the second pass is refused", "documented", *DERIVED)
def test_a_row_second_scores(exported: dict[str, bytes]) -> None:
    for one in claims(exported):
        assert all(0 <= value <= 1 for value in one["scores"].values())


@row("an impossible route is refused", "documented", *DERIVED)
def test_a_row_impossible(exported: dict[str, bytes]) -> None:
    assert {one["routeRationale"] for one in claims(exported)} == {"strong"}


@row("a claim has one home, provenance, a status and two postures", "default")
def test_a_row_claim(exported: dict[str, bytes]) -> None:
    for one in claims(exported):
        assert one["primaryHome"] in HOMES.values()
        for place in one["provenance"]:
            first, last = place["lineSpan"]
            assert 1 <= first <= last <= HOUSE[place["source"]].count(b"\n")
        assert one["provenance"]
        assert one["status"] == "resolved"
        assert one["freshnessPosture"] in ("fresh", "recent", "stale")
        assert one["confidencePosture"] in ("high", "medium", "low")


SILENT = 'say(json.dumps({"operations": []}) if not found else good(question))\n'


@pytest.fixture(scope="module")
def silent(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a house of which a model kept nothing, with its export; read only."""
    base = tmp_path_factory.mktemp("silent")
    repo = house(base)
    assert ask(repo, SILENT).exit == 0
    done(repo, "export", "artifacts", base / "out", now=NEXT_DAY)
    return base


def asked(base: Path, *options: str) -> str:
    """Return what a later run with such a model is asked, and nothing if it asks nothing."""
    said = base / "asked.txt"
    body = f"open({str(said)!r}, 'a').write(question)\n{SILENT}"
    assert ask(base / "repo", body, *options, now="2026-03-04T09:00:00Z").exit == 0
    return serving.shown(said.read_text()) if said.exists() else ""


@row("what is rejected is stored for the audit and never asked about again", "default")
def test_a_row_reject(silent: Path, tmp_path: Path) -> None:
    rejected = lines(files(silent / "out"), "rejected-candidates.jsonl")
    assert {one["text"] for one in rejected} == {"ok thanks", "maybe ask Brandt about paint"}
    repo = copied(silent, tmp_path)
    assert asked(tmp_path) == ""
    log = tmp_path / "workspace" / "memory" / "2026-02-20.md"
    log.write_text(log.read_text() + "- Brandt moves his yard to Larvik in May.\n")
    again = asked(tmp_path)
    assert "yard to Larvik" in again
    assert not any(one["text"] in again for one in rejected)
    assert done(repo, "status")["waiting"] == []


@row("what is deferred or rejected of a daily log is stored and exported as well", "default")
def test_a_row_daily(silent: Path) -> None:
    (found,) = (r for r in candidates(files(silent / "out")) if "Solveig" in r["text"])
    assert found["source_refs"][0]["source"] == "memory/2026-02-20.md"


@row(
    "what is deferred comes back where news gives it context",
    "documented",
    *PURIFIER,
    "read again by a reconciliation",
)
def test_a_row_defer(silent: Path, tmp_path: Path) -> None:
    copied(silent, tmp_path)
    assert asked(tmp_path) == ""
    again = asked(tmp_path, "--mode", "reconciliation")
    assert "The ferry to Moss leaves at 07:40" in again
    assert "north pier" in again


@row("what is compressed is folded into its target, with its evidence", "default")
def test_a_row_compress(tmp_path: Path) -> None:
    two = ("Brandt repairs the rudder of the Solveig.", "Brandt repairs the Solveig's rudder.")
    found = joined(tmp_path, two, two[0])
    assert [(m.body, len(m.sources)) for m in found] == [(two[0], 2)]


@row("what is merged becomes one memory that rests on all of it", "default")
def test_a_row_merge(tmp_path: Path) -> None:
    two = ("Brandt repairs rudders.", "Brandt also repairs the keels of the same boats.")
    text = "Brandt repairs rudders, and also the keels of the same boats."
    found = joined(tmp_path, two, text)
    assert [(m.body, len(m.sources)) for m in found] == [(text, 2)]


def joined(base: Path, two: tuple[str, str], text: str) -> list[Any]:
    """Return what a run makes of two lines that a model reads as one memory."""
    said = "# Memory\n\n" + "".join(f"- {one}\n" for one in two)
    workspace = write(base / "workspace", {"MEMORY.md": said.encode()})
    done(base, "init", base / "repo", "--from", workspace)
    row_ = {"op": "add", "lines": "F1:3-4", "text": text, "type": "fact", "subject": "Brandt"}
    body = f"say(good(question) if found else {json.dumps(json.dumps({'operations': [row_]}))})\n"
    assert ask(base / "repo", body).exit == 0
    return [*memories(base / "repo").values()]


@row("what is promoted stands as a claim of its own", "default")
def test_a_row_promote(ran: Path) -> None:
    assert sum("ferry to Moss" in m.body for m in memories(ran).values()) == 1


@row("a line of less than ten characters is never dropped silently", "default")
def test_a_row_short(ran: Path, exported: dict[str, bytes]) -> None:
    kept = [m.body for m in memories(ran).values()] + [c["text"] for c in candidates(exported)]
    assert "vegan" in kept


WRONG = """
rows = operations(question) if not found else []
for one in rows:
    if "dinghy" in one["text"]:
        one["text"] = "Ines decided to sell 77 old dinghies before winter."
say(json.dumps({"operations": [] if "refused:" in question else rows}) if rows else good(question))
"""


@row("one answer that is no use costs only its own candidates", "default")
def test_a_row_partial(tmp_path: Path) -> None:
    ran = ask(house(tmp_path), WRONG)
    assert (ran.exit, ran.data["status"]) == (0, "ok")
    (held,) = ran.data["quarantined"]
    assert "a number that is not in the evidence: 77" in held["reason"]
    bodies = [m.body for m in memories(tmp_path / "repo").values()]
    assert any("ferry to Moss" in body for body in bodies)
    assert not any("77 old dinghies" in body for body in bodies)


@row("what is quarantined is told on the run's own line", "default")
def test_a_row_quarantine(tmp_path: Path) -> None:
    repo = house(tmp_path)
    git(repo, "config", "memrepo.judge.command", str(program(tmp_path / "judge", WRONG)))
    said = memrepo(repo, "run", "--judge", "command", "--report", "summary", as_json=False).out
    (head,) = said.splitlines()
    assert head.startswith("run ")
    assert head.endswith("; 1 quarantined (see the manifest)")
    configure(repo, "reporting.enabled", "true")
    assert "; 1 quarantined" in memrepo(repo, "report", "--chat", as_json=False).out


@row(
    "a suspicious route lands with a warning in run, telemetry and last-run",
    "documented",
    *PURIFIER,
    "page follows from its type",
)
def test_a_row_suspicious(exported: dict[str, bytes]) -> None:
    found = {one["type"]: one["primaryHome"] for one in claims(exported)}
    assert found == {type_: HOMES.get(type_, "LTMEMORY.md") for type_ in found}
    assert {*found.values()} == {*HOMES.values()}
    assert json.loads(exported["purified-manifest.json"])["routeValidationWarnings"] == []


_TYPES = "fact method episode milestone aspiration".split()
_PAGES = "LTMEMORY.md PLAYBOOKS.md EPISODES.md HISTORY.md WISHES.md".split()
HOMES = dict(zip(_TYPES, _PAGES, strict=True))


# -- what code decides by itself -----------------------------------------------------------------


def priced(base: Path, *texts: str, **keys: str) -> list[Any]:
    """Return what is active after each text was added as a file of its own, one a run."""
    workspace = write(base / "workspace", {"MEMORY.md": b"# Memory\n\n"})
    done(base, "init", base / "repo", "--from", workspace)
    for key, value in keys.items():
        configure(base / "repo", key.replace("_", ".", 1), value)
    for n, text in enumerate(texts):
        (workspace / f"notes-{n}.md").write_text(f"# Prices\n\n## Brandt\n\n- {text}\n")
        done(base / "repo", "run", now=f"2026-03-0{n + 2}T09:00:00Z")
    return [m for m in memories(base / "repo").values() if m.status == "active"]


@row("a claim of the same subject, predicate, home and object keeps its id", "default")
def test_a_row_reuse(tmp_path: Path) -> None:
    two = "**Hourly rate:** 90 euros", "Hourly rate: 90 euros"
    found = priced(tmp_path, *two)
    assert len(found) == 1
    assert len(found[0].sources) == 2
    (claim,) = (one for one in claims_of(tmp_path / "repo") if one["text"] == found[0].body)
    assert claim["duplicateDisposition"] == "reuse_existing"
    assert (found[0].id, claim["id"]) == first_ids(tmp_path / "first", two[0])


def first_ids(base: Path, text: str) -> tuple[str, str]:
    """Return the ids of memory and claim of a text that nothing came before."""
    base.mkdir()
    (alone,) = priced(base, text)
    return alone.id, claims_of(base / "repo")[0]["id"]


def claims_of(repo: Path) -> list[dict[str, Any]]:
    """Return the claims that a repository exports."""
    done(repo, "export", "artifacts", repo.parent / "claims", "--force")
    return lines(files(repo.parent / "claims"), "purified-claims.jsonl")


RATES = "**Hourly rate of the yard:** 90 euros", "**Hourly rate of the yard:** 95 euros"


@row("with the profile that leaves the object out, the triple alone keeps its id", "classic")
def test_a_row_reuse_triple(tmp_path: Path) -> None:
    (found,) = priced(tmp_path, *RATES, lifecycle_profile="classic")
    assert found.object == "95 euros"
    (claim,) = claims_of(tmp_path / "repo")
    assert (found.id, claim["id"]) == first_ids(tmp_path / "first", RATES[0])


@row("a probable duplicate above 0.80 is flagged and points back", "default")
def test_a_row_duplicate(exported_twice: list[dict[str, Any]]) -> None:
    first, second = sorted(exported_twice, key=lambda one: one["updatedAt_utc"])
    assert second["status"] == "probable_duplicate"
    assert second["duplicateDisposition"] == "probable_duplicate"
    assert second["duplicateTargetClaimId"] == first["id"]
    assert float(second["duplicateReason"].split("_")[1]) >= 0.80


@pytest.fixture
def exported_twice(tmp_path: Path) -> list[dict[str, Any]]:
    two = (
        "**Hourly rate:** 90 euros for keels of wood at the yard",
        "**Hourly rate:** 90 euros for keels of wood at the yard too",
    )
    priced(tmp_path, *two)
    done(tmp_path / "repo", "export", "artifacts", tmp_path / "out", now=NEXT_DAY)
    return lines(files(tmp_path / "out"), "purified-claims.jsonl")


# -- what is read ----------------------------------------------------------------------------------


@row("the workspace is only read", "default")
def test_a_row_read_only(ran: Path) -> None:
    assert files(ran.parent / "workspace") == HOUSE


@row("the consolidated files and the episodes are read", "default")
def test_a_row_sources(ran: Path) -> None:
    bodies = " ".join(m.body for m in memories(ran).values())
    for words in ("ferry to Moss", "north pier", "Drain the tank", "rudder cracked"):
        assert words in bodies


@row("chronicles and dreams are read on the personal profile only", "default")
def test_a_row_personal(ran: Path, business: Path) -> None:
    own = {"CHRONICLES.md", "DREAMS.md"}
    assert own <= {p.name for p in (ran / "sources").iterdir()}
    read = {p.name for p in (business / "sources").iterdir()}
    assert read
    assert not own & read
    for repo, is_read in ((ran, True), (business, False)):
        bodies = " ".join(m.body for m in memories(repo).values())
        assert ("skipper's exam" in bodies, "around Iceland" in bodies) == (is_read, is_read)


@pytest.fixture(scope="module")
def _business(tmp_path_factory: pytest.TempPathFactory) -> Path:
    repo = house(tmp_path_factory.mktemp("business"), "--profile", "business")
    configure(repo, "sources.profile", "classic")
    done(repo, "run")
    return repo


@pytest.fixture
def business(_business: Path) -> Path:
    """Return the house as a business with the purifier's own sources; read only."""
    return _business


@row("authority documents and purified outputs are never read", "default")
def test_a_row_denied(ran: Path) -> None:
    kept = b"".join(files(ran / "sources").values()) + b"".join(files(ran / "memories").values())
    assert b"lends its boats" not in kept
    assert b"lighthouse in Kvitsoy" not in kept


@row("raw daily logs are never read, where the sources are those of the purifier", "classic")
def test_a_row_raw_logs(business: Path) -> None:
    assert not (business / "sources" / "memory").exists()
    assert b"Solveig" not in b"".join(files(business / "memories").values())


@row("a run only starts when a command or a schedule asks for it", "default")
def test_a_row_no_turn_time(mine: Path) -> None:
    path = mine.parent / "workspace" / "MEMORY.md"
    path.write_text(path.read_text() + "- Brandt moves his yard to Larvik in May.\n")
    before = git(mine, "rev-parse", "HEAD")
    done(mine, "search", "Larvik yard")
    done(mine, "status")
    assert git(mine, "rev-parse", "HEAD") == before


# -- artifacts and views ---------------------------------------------------------------------------


@row("the eight artifacts have the purifier's names", "default")
def test_a_row_artifacts(exported: dict[str, bytes]) -> None:
    assert sorted(exported) == sorted(EIGHT)


@row("claims have stable ids of sixteen hex digits", "default")
def test_a_row_ids(mine: Path, exported: dict[str, bytes]) -> None:
    ids = {one["text"]: one["id"] for one in lines(exported, "purified-claims.jsonl")}
    assert all(re.fullmatch(r"cl-[0-9a-f]{16}", id_) for id_ in ids.values())
    assert len({*ids.values()}) == len(ids) > 4
    assert {one["text"]: one["id"] for one in claims_of(mine)} == ids
    # Neither other words, nor more evidence, nor another subject make another claim.
    (memory,) = (m for m in memories(mine).values() if "dinghy" in m.body)
    worded = ("--text", "The dinghy is kept in the shed.", "--set", "subject=Dinghy")
    done(mine, "edit", memory.id, *worded, now=NEXT_DAY)
    write_line(mine, "- Brandt moves his yard to Larvik in May.\n")
    done(mine, "run", now="2026-03-03T09:00:00Z")
    after = {one["id"]: one["text"] for one in claims_of(mine)}
    assert {*ids.values()} < after.keys()
    assert after[ids[memory.body]] == "The dinghy is kept in the shed."


@row("routes hold the active claims by home", "default")
def test_a_row_routes(mine: Path, exported: dict[str, bytes]) -> None:
    routes = json.loads(exported["purified-routes.json"])
    homes = {one["id"]: one["primaryHome"] for one in claims(exported)}
    assert {id_: home for home, ids in routes.items() for id_ in ids} == homes
    (gone,) = (m for m in memories(mine).values() if "dinghy" in m.body)
    done(mine, "archive", gone.id)
    (claim,) = (one for one in claims_of(mine) if "dinghy" in one["text"])
    after = (mine.parent / "claims" / "purified-routes.json").read_text()
    assert claim["id"] in str(routes)
    assert claim["id"] not in after


@row("the manifest has package, logic and schema versions, and the cursor", "default")
def test_a_row_manifest(exported: dict[str, bytes]) -> None:
    found = json.loads(exported["purified-manifest.json"])
    assert found["packageVersion"].startswith("1.7.0")
    assert found["logicVersion"] == "1.6.0"
    assert (found["manifestSchemaVersion"], found["artifactSchemaVersion"]) == ("1", "1")
    assert re.fullmatch(r"cursor-v1:[0-9a-f]{16}", found["lastSuccessfulCursor"])
    assert found["publishCommitted"] is True


@row("with the preset openclaw each run leaves the artifacts in the workspace", "classic")
def test_a_row_runtime(mine: Path) -> None:
    runtime = mine.parent / "workspace" / "runtime"
    git(mine, "config", "memrepo.telemetry.preset", "openclaw")
    git(mine, "config", "memrepo.telemetry.dir", str(mine.parent / "telemetry"))
    assert done(mine, "run", now=NEXT_DAY)["warnings"] == []
    assert sorted(files(runtime)) == sorted(EIGHT)
    first = files(runtime)["purified-claims.jsonl"]
    path = mine.parent / "workspace" / "MEMORY.md"
    path.write_text(path.read_text() + "- Brandt moves his yard to Larvik in May.\n")
    done(mine, "run", now="2026-03-03T05:00:00Z")
    assert b"Larvik" in files(runtime)["purified-claims.jsonl"] != first


@row("artifacts in a workspace that is the repository are none of its files", "classic")
def test_a_row_runtime_ignored(tmp_path: Path) -> None:
    repo = write(tmp_path / "repo", {"MEMORY.md": HOUSE["MEMORY.md"]})
    done(tmp_path, "init", "repo")
    git(repo, "config", "memrepo.telemetry.preset", "openclaw")
    git(repo, "config", "memrepo.telemetry.dir", str(tmp_path / "telemetry"))
    done(repo, "run")
    assert sorted(files(repo / "runtime")) == sorted(EIGHT)
    assert "runtime" not in git(repo, "status", "--porcelain")


@row("three views are always there, two on the personal profile only", "default")
def test_a_row_views(ran: Path, business: Path) -> None:
    always = {"LTMEMORY.md": "ferry", "PLAYBOOKS.md": "Drain the tank", "EPISODES.md": "rudder"}
    own = {"HISTORY.md": "skipper's exam", "WISHES.md": "sail around Iceland"}
    for repo, pages in ((ran, {**always, **own}), (business, always)):
        shown = {p.name: p.read_text() for p in (repo / "views").iterdir()}
        assert {*shown} == {*pages, "TOPICS.md"}
        assert [name for name, words in pages.items() if words not in shown[name]] == []


@row("views are derived: one that a hand changed is written again", "default")
def test_a_row_views_again(mine: Path) -> None:
    path = mine / "views" / "LTMEMORY.md"
    page = path.read_text()
    path.write_text(page + "- zebra\n")
    assert done(mine, "check", "views/LTMEMORY.md")["problems"][0]["rule"] == "page-edited"
    git(mine, "commit", "-qam", "A view by hand", "--no-verify")
    done(mine, "run", now=NEXT_DAY)
    assert path.read_text() == page
    path.unlink()
    assert memrepo(mine, "doctor", "--fix").exit in (0, 1)
    assert path.read_text() == page


@row("views are written next to the workspace's own files", "documented", *PURIFIER, "`views/`")
def test_a_row_views_place(ran: Path) -> None:
    assert (ran / "views" / "LTMEMORY.md").is_file()
    assert files(ran.parent / "workspace") == HOUSE


@row(
    "artifacts are live files that no repository holds",
    "documented",
    *PURIFIER,
    "`memrepo export artifacts`",
)
def test_a_row_not_committed(ran: Path) -> None:
    assert not any("purified-" in name for name in git(ran, "ls-files").split())


# -- reports ---------------------------------------------------------------------------------------


def events(folder: Path) -> list[dict[str, Any]]:
    logs = sorted(folder.glob("memory-log-*.jsonl"))
    return [json.loads(line) for log in logs for line in log.read_text().splitlines()]


@row("each run appends one event to a shared log of its day", "default")
def test_a_row_log(ran: Path) -> None:
    folder = ran / ".memrepo" / "telemetry"
    assert [p.name for p in folder.glob("*.jsonl")] == ["memory-log-2026-03-01.jsonl"]
    assert [e["event"] for e in events(folder)] == ["run_started", "run_completed"]
    assert {e["domain"] for e in events(folder)} == {"memory"}


@row("a run with nothing to do is told as skipped, one that stops as failed", "default")
def test_a_row_events(mine: Path) -> None:
    done(mine, "run")
    write_line(mine, "- Brandt moves his yard to Larvik in May.\n")
    assert ask(mine, "raise SystemExit(3)\n", now="2026-03-01T09:20:00Z").exit == 4
    names = [e["event"] for e in events(mine / ".memrepo" / "telemetry")]
    assert names[-3:] == ["run_skipped", "run_started", "run_failed"]


def write_line(repo: Path, line: str) -> None:
    path = repo.parent / "workspace" / "MEMORY.md"
    path.write_text(path.read_text() + line)


@row("with the preset openclaw events carry the purifier's own name", "classic")
def test_a_row_component(mine: Path) -> None:
    git(mine, "config", "memrepo.telemetry.preset", "openclaw")
    git(mine, "config", "memrepo.telemetry.dir", str(mine.parent / "shared"))
    done(mine, "run")
    assert {e["component"] for e in events(mine.parent / "shared")} == {"memory-purifier.purifier"}
    assert sorted(files(mine.parent / "shared")) == [
        *("memory-log-2026-03-01.jsonl", "memory-purifier/last-run.md")
    ]


@row("the report of the last run is overwritten by each run", "default")
def test_a_row_last_run(mine: Path) -> None:
    path = mine / ".memrepo" / "telemetry" / "memrepo" / "last-run.md"
    first = path.read_text()
    assert first.startswith("# Last run: ok")
    run_id = json.loads(next((mine / "runs").rglob("*.json")).read_text())["run"]
    for words in (f"- run {run_id}: 9 new", "- 11 statements read", "- 9 new memories"):
        assert words in first
    done(mine, "run")
    assert path.read_text().startswith("# Last run: skipped")
    assert "# Last run: ok" not in path.read_text()


@row("tokens are exact, approximate or unavailable, and only the passes count", "default")
def test_a_row_tokens(ran: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert events(ran / ".memrepo" / "telemetry")[-1]["token_usage"]["source"] == "unavailable"
    found = ask(house(tmp_path), "say(good(question))\n").data["tokens"]
    assert found["source"] == "approximate"
    assert found["total"] == found["prompt"] + found["completion"] > 0
    (tmp_path / "exact").mkdir()
    repo = house(tmp_path / "exact")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "test-key")
    with serving.serving() as service:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", service.url)
        found = done(repo, "run", "--judge", "anthropic")["tokens"]
    assert found["source"] == "exact"
    assert found["total"] == len(service.asked) * sum(serving.USED.values()) > 0


@row("reporting is off until it is enabled, whatever its mode", "default")
@pytest.mark.parametrize("mode", ["silent", "summary", "full"])
def test_a_row_silent(mine: Path, mode: str) -> None:
    configure(mine, "reporting.mode", mode)
    assert memrepo(mine, "report", "--chat", as_json=False).out.strip() == ""
    configure(mine, "reporting.enabled", "true")
    said = memrepo(mine, "report", "--chat", as_json=False).out.strip()
    assert bool(said) == (mode != "silent")


@row("a summary is one line, and silent prints nothing", "default")
def test_a_row_summary(mine: Path) -> None:
    configure(mine, "reporting.enabled", "true")
    assert len(memrepo(mine, "report", "--chat", as_json=False).out.splitlines()) == 1
    configure(mine, "reporting.mode", "silent")
    assert memrepo(mine, "report", "--chat", as_json=False).out.strip() == ""


@row("a full report has a block of tokens where tokens were counted", "default")
def test_a_row_full(tmp_path: Path) -> None:
    repo = house(tmp_path)
    configure(repo, "reporting.enabled", "true")
    configure(repo, "reporting.mode", "full")
    done(repo, "run")
    said = memrepo(repo, "report", "--chat", as_json=False).out
    assert "Token usage" not in said
    assert "\n- 9 new memories\n" in said
    write_line(repo, "- Brandt moves his yard to Larvik in May.\n")
    ask(repo, "say(good(question))\n")
    assert "Token usage" in memrepo(repo, "report", "--chat", as_json=False).out


@row("telemetry and the report of a run do not depend on the reporting settings", "default")
@pytest.mark.parametrize(("enabled", "mode"), [("false", "full"), ("true", "silent")])
def test_a_row_always_told(mine: Path, enabled: str, mode: str) -> None:
    configure(mine, "reporting.enabled", enabled)
    configure(mine, "reporting.mode", mode)
    folder = mine / ".memrepo" / "telemetry"
    shutil.rmtree(folder)
    done(mine, "run")
    assert [e["event"] for e in events(folder)] == ["run_started", "run_skipped"]
    assert (folder / "memrepo" / "last-run.md").read_text().startswith("# Last run: skipped")


# -- cadence ---------------------------------------------------------------------------------------


def schedule(repo: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = done(repo, "schedule", "show", "--launcher")["entries"]
    return found


@row("the personal cadence is two incremental jobs and one reconciliation", "default")
def test_a_row_cadence_personal(ran: Path) -> None:
    assert [(e["mode"], e["cron"]) for e in schedule(ran)] == [
        ("incremental", "15 5 * * 1,2,4,5,6"),
        ("incremental", "15 17 * * *"),
        ("reconciliation", "15 5 * * 3,0"),
    ]


@row("the business cadence is one job of each kind at 13:15", "default")
def test_a_row_cadence_business(business: Path) -> None:
    assert [(e["mode"], e["cron"]) for e in schedule(business)] == [
        ("incremental", "15 13 * * 1,2,4,5,6"),
        ("reconciliation", "15 13 * * 3,0"),
    ]


@row("a reconciliation owns its slot", "default")
def test_a_row_slot(mine: Path) -> None:
    git(mine, "config", "memrepo.schedule.by", "launcher")
    found = done(mine, "run", now="2026-03-03T21:00:00Z")
    assert found["status"] == "skipped_superseded"
    assert done(mine, "run", now="2026-03-04T21:00:00Z")["status"] != "skipped_superseded"


@row("times are those of Asia/Manila where nothing else is named", "default")
def test_a_row_zone(ran: Path, tmp_path: Path) -> None:
    assert {e["zone"] for e in schedule(ran)} == {"Asia/Manila"}
    explained = done(ran, "config", "timezone")["keys"][0]
    assert explained["default"] == "Asia/Manila"


@row("a scheduled run is ended after 1200 seconds", "default")
def test_a_row_timeout(ran: Path) -> None:
    assert {e["timeout_s"] for e in schedule(ran)} == {1200}
    said = memrepo(ran, "schedule", "show", as_json=False).out
    assert re.search(r"timeout -s INT -k 60 1200 \S.* run --scheduled", said)


@row("reports are delivered only where reporting is enabled", "default")
def test_a_row_delivery(mine: Path) -> None:
    assert {(e["announce"], e["channel"]) for e in schedule(mine)} == {(False, None)}
    for key, value in {"channel": "chat", "to": "@ines"}.items():
        configure(mine, f"announce.{key}", value)
    assert {e["announce"] for e in schedule(mine)} == {False}
    configure(mine, "reporting.enabled", "true")
    assert {(e["announce"], e["channel"], e["to"]) for e in schedule(mine)} == {
        (True, "chat", "@ines")
    }


@row("the launcher names the file of the prompt, which holds every step", "default")
def test_a_row_launcher(mine: Path) -> None:
    rows = done(mine, "schedule", "install", "--launcher")["entries"]
    for one in rows:
        found = re.fullmatch(
            r"Run memrepo\. Read (.+) and follow every step strictly\.", one["message"]
        )
        assert found
        text = Path(found[1]).read_text()
        assert f"run --mode {one['mode']} --report silent" in text
        assert "report --chat" in text
    assert git(mine, "status", "--porcelain") == ""


@row(
    "a script installs the package, seeds its files and registers the jobs",
    "documented",
    *PURIFIER,
    "`memrepo init`",
    "`memrepo schedule install`",
)
def test_a_row_install(ran: Path) -> None:
    assert (ran / "memrepo.toml").is_file()


@row("a reconciliation waits for a person unless the key lets it land", "classic")
def test_a_row_reconciliation(mine: Path) -> None:
    write_line(mine, "- Brandt moves his yard to Larvik in May.\n")
    held = memrepo(mine, "run", "--mode", "reconciliation", now=NEXT_DAY)
    assert (held.exit, held.data["status"]) == (3, "held")
    done(mine, "discard", held.data["branch"], now=NEXT_DAY)
    configure(mine, "run.reconciliation", "land", now=NEXT_DAY)
    write_line(mine, "- Brandt sells spars of ash wood.\n")
    ran = done(mine, "run", "--mode", "reconciliation", now="2026-03-04T05:00:00Z")
    assert (ran["status"], ran["mode"]) == ("ok", "reconciliation")
    bodies = " ".join(m.body for m in memories(mine).values())
    assert "spars of ash wood" in bodies
    assert "Larvik" not in bodies  # which a person discarded


@row("a dry run asks nothing of the repository and writes nothing", "default")
def test_a_row_dry_run(mine: Path) -> None:
    write_line(mine, "- Brandt moves his yard to Larvik in May.\n")
    before = files(mine)
    git(mine, "config", "memrepo.judge.command", str(program(mine.parent / "judge", "1 / 0\n")))
    stood = standing(mine)
    for options in ((), ("--judge", "command")):
        assert done(mine, "run", "--dry-run", *options)["status"] == "dry-run"
    assert files(mine) == before
    assert standing(mine) == stood


@row(
    "every line that is not promoted is stored as a candidate",
    "documented",
    *PURIFIER,
    "A shelf bounds what is judged",
)
def test_a_row_shelf(tmp_path: Path) -> None:
    names = [f"{chr(65 + n % 26)}{chr(97 + n // 26)}rn" for n in range(60)]
    said = [f"- Berth {name} at the pier belongs to the yard of Brandt." for name in names]
    more = {"berths.md": ("# Berths\n\n" + "\n".join(said) + "\n").encode()}
    repo = house(tmp_path, more=more)
    configure(repo, "run.shelf", "small")
    assert done(repo, "run")["counts"]["left"] > 0
    found = done(repo, "search", "berth", names[53], "pier", "--no-touch")
    assert f"Berth {names[53]}" in str(found["hits"]) + str(found["passages"])
    done(repo, "export", "artifacts", tmp_path / "out")
    listed = (tmp_path / "out" / "deferred-candidates.jsonl").read_text()
    assert f"Berth {names[0]}" in listed
    assert f"Berth {names[53]}" not in listed


# -- what becomes of whole runs --------------------------------------------------------------------


@row("a recoverable answer is no failure", "default")
def test_a_row_recovered(tmp_path: Path) -> None:
    ran = ask(house(tmp_path), "say('Here:\\n```json\\n' + good(question) + '\\n```\\nBye.')\n")
    assert (ran.exit, ran.data["status"], ran.data["quarantined"]) == (0, "ok", [])
    assert not (tmp_path / "repo" / ".memrepo" / "failed").exists()


@row("of several claims of one triple the most recent keeps its id", "classic")
def test_a_row_reuse_newest(tmp_path: Path) -> None:
    third = "**Hourly rate of the yard:** 99 euros"
    older, newer = sorted(priced(tmp_path, *RATES), key=lambda m: m.created)
    repo = tmp_path / "repo"
    configure(repo, "lifecycle.profile", "classic", now="2026-03-04T09:00:00Z")
    (tmp_path / "workspace" / "notes-9.md").write_text(f"# Prices\n\n## Brandt\n\n- {third}\n")
    done(repo, "run", now="2026-03-05T09:00:00Z")
    objects = {id_: m.object for id_, m in memories(repo).items()}
    assert objects == {older.id: "90 euros", newer.id: "99 euros"}


@row("a claim that a person worded is never overwritten by reuse", "classic")
def test_a_row_reuse_person(tmp_path: Path) -> None:
    (found,) = priced(tmp_path, RATES[0], lifecycle_profile="classic")
    repo = tmp_path / "repo"
    configure(repo, "human_authors", '["person@example.org"]')
    done(repo, "edit", found.id, "--text", "The yard asks for 90 euros")
    (tmp_path / "workspace" / "notes-9.md").write_text(f"# Prices\n\n## Brandt\n\n- {RATES[1]}\n")
    done(repo, "run", now="2026-03-09T09:00:00Z")
    assert memories(repo)[found.id].body == "The yard asks for 90 euros"


def priors(base: Path, *, are_contested: bool) -> list[str]:
    """Return the memories that are shown with a new line about a mast that nine are about."""
    said = [f"- Solveig: the mast has {n} spreaders of spruce" for n in range(9)]
    said += [f"- The kiosk sells {n} sorts of ice cream" for n in range(9)]
    text = "# Memory\n\n" + "\n".join(said) + "\n"
    workspace = write(base / "workspace", {"MEMORY.md": text.encode()})
    done(base, "init", base / "repo", "--from", workspace)
    done(base / "repo", "run")
    masts = [id_ for id_, m in memories(base / "repo").items() if "mast" in m.body]
    assert len(masts) == 9
    for one, other in pairwise(masts) if are_contested else ():
        done(base / "repo", "link", one, "contradicts", other)
    (workspace / "RTMEMORY.md").write_text("# Lessons\n\n- Solveig: the mast is of aluminium\n")
    first = done(base / "repo", "judge", "next", now=NEXT_DAY)["question"]
    return re.findall(r"^m\d+ \|.*", first["data"], re.MULTILINE)


@row("few priors are shown for each cluster, those of its subject first", "default")
def test_a_row_priors(tmp_path: Path) -> None:
    shown = priors(tmp_path, are_contested=False)
    assert len(shown) == 5
    assert all("mast" in one for one in shown)


@row(
    "more priors are shown under the pressure of contradictions",
    "documented",
    *PURIFIER,
    "five for the text under each heading",
    "ten for each cluster",
)
def test_a_row_widening(tmp_path: Path) -> None:
    shown = priors(tmp_path, are_contested=True)
    assert len(shown) == 5
    assert all("mast" in one for one in shown)


@row("a newer logic waits for a word before it judges everything again", "default")
def test_a_row_upgrade(mine: Path) -> None:
    path = next((mine / "runs").rglob("*.json"))
    path.write_text(path.read_text().replace('"logic_version": 1', '"logic_version": 0'))
    git(mine, "commit", "-qam", "an older logic", "--no-verify")
    assert memrepo(mine, "run", now=NEXT_DAY).exit == 3
    ran = memrepo(mine, "run", "--acknowledge-upgrade", now=NEXT_DAY)
    assert ran.data["mode"] == "reconciliation"


@row("a newer package of the same logic goes on without a word", "default")
def test_a_row_package(mine: Path) -> None:
    path = next((mine / "runs").rglob("*.json"))
    found = json.loads(path.read_text())
    found["package_version"] = "0.0.1"
    path.write_text(json.dumps(found))
    git(mine, "commit", "-qam", "an older package", "--no-verify")
    assert done(mine, "run", now=NEXT_DAY)["status"] in ("ok", "skipped")


@row("entities hold every subject with its claims", "default")
def test_a_row_entities(exported: dict[str, bytes]) -> None:
    wanted: dict[str, list[str]] = {}
    for one in claims(exported):
        if one["subject"]:
            wanted.setdefault(one["subject"], []).append(one["id"])
    found = json.loads(exported["purified-entities.json"])
    assert {subject: one["claimIds"] for subject, one in found.items()} == wanted
    assert len(wanted["Boats"]) == 2


@row("a contradiction is told from both sides, in one cluster", "default")
def test_a_row_contradiction(mine: Path) -> None:
    ids = [done(mine, "add", f"The mast is {n} metres high.")["id"] for n in (14, 16)]
    done(mine, "link", ids[0], "contradicts", ids[1])
    out = mine.parent / "out"
    done(mine, "export", "artifacts", out)
    rows = lines(files(out), "purified-contradictions.jsonl")
    sides = {(one["claimId"], one["competingClaimId"]) for one in rows}
    assert len(sides) == 2
    assert {(b, a) for a, b in sides} == sides
    assert len({one["contradictionClusterId"] for one in rows}) == 1


@row("the manifest and the event suggest the wiki's turn after a run that landed", "default")
def test_a_row_downstream(mine: Path, exported: dict[str, bytes]) -> None:
    assert json.loads(exported["purified-manifest.json"])["downstreamWikiIngestSuggested"] is True
    for is_suggested in (True, False):
        last = events(mine / ".memrepo" / "telemetry")[-1]["details"]
        assert last.get("downstream_wiki_ingest_suggested", False) is is_suggested
        done(mine, "run")


@row("what was superseded is not superseded once more without a notice", "default")
def test_a_row_chain(mine: Path) -> None:
    first = done(mine, "add", "The mast is 14 metres high.")["id"]
    second = done(mine, "supersede", first, "The mast is 15 metres high.")["id"]
    refused = memrepo(mine, "supersede", first, "The mast is 16 metres high.")
    assert refused.exit != 0
    assert second in refused.error["message"] + refused.error["fix"]


@row("the profile classic of init brings all of this at once", "classic")
def test_a_row_classic(tmp_path: Path) -> None:
    workspace = write(tmp_path / "workspace", HOUSE)
    done(tmp_path, "init", tmp_path / "repo", "--from", workspace, "--profile", "classic")
    shown = {r["key"]: r["value"] for r in done(tmp_path / "repo", "config")["keys"]}
    keys = "run.reconciliation lifecycle.profile tiers.clean_after".split()
    assert [shown[key] for key in keys] == ["land", "classic", "30d"]
    assert (shown["compression.enabled"], shown["compression.below"]) == (True, 0.3)
