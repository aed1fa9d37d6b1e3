"""What a memory file may hold, and what a repository is made of, promise by promise."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from driving import LATER, configure, done, git, head, memories, memrepo, standing
from seed_rows import assert_each_row_has_an_end, row

from memrepo.core.layout import AREAS
from memrepo.core.memory import LAYER_OF_TYPE, LAYERS, TYPES
from memrepo.core.times import parse_time

A, B = "mem-aaaaaa0000000001", "mem-bbbbbb0000000002"


@pytest.fixture(scope="module")
def card(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a repository with one memory by hand; a test that writes to it cleans up."""
    base = tmp_path_factory.mktemp("card")
    done(base, "init", "repo")
    done(base / "repo", "add", "The barn is dry.", "--title", "Barn")
    return base / "repo"


def text(*lines: str, id_: str = A, type_: str = "fact", body: str = "The gate is green.") -> str:
    head = [f"id: {id_}"] if id_ else []
    return "\n".join(["---", *head, f"type: {type_}", *lines, "---", "", body, ""])


def found(repo: Path, *lines: str, layer: str = "knowledge", **how: str) -> dict[str, str]:
    """Check one file that is written into the work tree; return message by rule."""
    id_ = how.get("id_", A)
    name = how.pop("name", f"gate-{id_.removeprefix('mem-')[:6]}.md")
    path = repo / "memories" / layer / "2026-03" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text(*lines, **how), encoding="utf-8")
    try:
        answer = memrepo(repo, "check", path.relative_to(repo).as_posix())
    finally:
        path.unlink()
    return {p["rule"]: p["message"] for p in answer.data["problems"]}


BORN = "created: 2026-03-01T09:00:00Z"


@row("A file with a type and a body is a memory; the hook fills the rest", "default")
def test_a_row_least(repo: Path) -> None:
    path = repo / "memories" / "knowledge" / "2026-03" / "gate.md"
    path.parent.mkdir(parents=True)
    path.write_text("---\ntype: fact\n---\n\nThe gate is green.\n", encoding="utf-8")
    done(repo, "check", "--fix", path.relative_to(repo).as_posix())
    (memory,) = memories(repo).values()
    assert memory.id.startswith("mem-")
    assert memory.slug == f"gate-{memory.id.removeprefix('mem-')[:6]}"
    assert memory.created is not None
    assert memory.body == "The gate is green."


@row("A memory needs a type", "default")
def test_a_row_needs_type(card: Path) -> None:
    path = card / "memories" / "knowledge" / "gate-aaaaaa.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"---\nid: {A}\n---\n\nGreen.\n", encoding="utf-8")
    answer = memrepo(card, "check", path.relative_to(card).as_posix())
    path.unlink()
    assert answer.exit == 1
    assert any("type" in p["message"] for p in answer.data["problems"])


@row("There are seventeen types, each with its layer", "default")
def test_a_row_types(card: Path) -> None:
    assert len(TYPES) == 17
    for type_ in TYPES:
        more = [f"parent: {B}", "chunk: 0"] if type_ == "chunk" else []
        problems = found(card, BORN, *more, type_=type_, layer=LAYER_OF_TYPE[type_])
        assert not problems.keys() - {"reference-lost"}, (type_, problems)
    assert "frontmatter-value" in found(card, BORN, type_="opinion")


@row("A tag is one word: letters, digits and ./:+#-_", "default")
def test_a_row_tags(card: Path) -> None:
    assert found(card, BORN, "tags: [garden, project/shed, c++, 2026, blå, a.b]") == {}
    problems = found(card, BORN, 'tags: ["Bar Baz", "x/y!!"]')
    assert set(problems) == {"tag-unknown"}
    assert "expected one word" in problems["tag-unknown"]


@row("A tag that is none is refused by add and edit, and repaired by check --fix", "default")
def test_a_row_tags_written(repo: Path) -> None:
    before = standing(repo)
    answer = memrepo(repo, "add", "The barn is dry.", "--tag", "Bar Baz")
    assert (answer.exit, answer.error["fix"]) == (2, "write 'Bar-Baz'")
    assert standing(repo) == before
    id_ = done(repo, "add", "The barn is dry.", "--tag", "barn")["id"]
    assert memrepo(repo, "edit", id_, "--set", "tags=barn, x/y!!").exit == 2
    path = repo / memories(repo)[id_].path
    path.write_text(path.read_text("utf-8").replace("[barn]", "[Bar Baz, x/y!!]"), "utf-8")
    done(repo, "check", "--fix", path.relative_to(repo).as_posix())
    assert memories(repo)[id_].tags == ("Bar-Baz", "x/y")


@row("The pattern of tags is configurable, and a vocabulary takes its place", "default")
def test_a_row_tags_configured(repo: Path) -> None:
    configure(repo, "tags.pattern", "[a-z ]+")
    done(repo, "add", "The barn is dry.", "--tag", "bar baz")
    assert memrepo(repo, "add", "The mill is wet.", "--tag", "Mill").exit == 2
    configure(repo, "tags.vocabulary", ["garden"])
    configure(repo, "tags.pattern", "garden")
    done(repo, "add", "The mill is wet.", "--tag", "garden")
    assert memrepo(repo, "add", "The gate is new.", "--tag", "gate").exit == 2


@row("A decay class that nobody knows is refused in a header", "default")
def test_a_row_decay_class(card: Path) -> None:
    problems = found(card, BORN, "decay: {class: forever}")
    assert "expected one of active, checkpoint" in problems["memory-decay-class"]
    assert found(card, BORN, "decay: {class: short}") == {}


@row("A commit with an unknown decay class is stopped by the hook, a bad tag repaired", "default")
def test_a_row_hook(repo: Path) -> None:
    path = repo / "memories" / "knowledge" / "2026-03" / "gate-aaaaaa.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    before = head(repo)
    for line, is_stopped in (("decay: {class: forever}", True), ("tags: [Bar Baz]", False)):
        path.write_text(text(BORN, line), encoding="utf-8")
        git(repo, "add", str(path))
        assert memrepo(repo, "check", "--staged").exit == 1
        git(repo, "commit", "-qm", "by hand", check=False)
        assert (head(repo) == before) == is_stopped
    assert memories(repo)[A].tags == ("Bar-Baz",)
    assert git(repo, "status", "--porcelain") == ""


@row("An id is mem- and sixteen hexadecimal digits, and no two files have one", "default")
def test_a_row_ids(card: Path) -> None:
    (known,) = memories(card)
    for id_ in ("mem-12", "MEM-aaaaaa0000000001", "mem-aaaaaa000000000g", f"{A}0"):
        assert "frontmatter-value" in found(card, BORN, id_=id_), id_
    digits = known.removeprefix("mem-")[:6]
    problems = found(card, BORN, id_=known, name=f"other-{digits}.md")
    assert "memory-same-id" in problems


@row("A file name ends in the first six digits of the id", "default")
def test_a_row_file_name(card: Path) -> None:
    assert "memory-file-name" in found(card, BORN, name="gate-123456.md")


@row("The path is layer, month and slug; a slug is of letters, digits and hyphens", "default")
def test_a_row_path(card: Path) -> None:
    (memory,) = memories(card).values()
    assert memory.path == f"memories/knowledge/2026-03/barn-{memory.id[4:10]}.md"
    added = done(card, "add", "Žluťoučký (kůň) 2_3, 你好!", "--dry-run")
    slug = f"žluťoučký-kůň-2-3-你好-{added['id'][4:10]}"
    assert added["path"] == f"memories/knowledge/2026-03/{slug}.md"


@row("Notes lie in the layer notes, and nothing else does", "default")
def test_a_row_layers(card: Path) -> None:
    assert "notes" in LAYERS
    assert "memory-layer" in found(card, BORN, layer="notes")
    assert "memory-layer" in found(card, BORN, layer="knowledge", type_="note")


@row("Status is one of active, superseded, archived and forgotten", "default")
def test_a_row_status(card: Path) -> None:
    for status in ("active", "archived", "superseded", "forgotten"):
        assert "frontmatter-value" not in found(card, BORN, f"status: {status}")
    assert "frontmatter-value" in found(card, BORN, "status: gone")


@row("Standing is one of six words", "default")
def test_a_row_standing(card: Path) -> None:
    words = "resolved contested unresolved stale retire_candidate probable_duplicate".split()
    assert [word for word in words if found(card, BORN, f"standing: {word}")] == []
    assert "frontmatter-value" in found(card, BORN, "standing: doubtful")


@row("Confidence and the strength of a link are from 0 to 1", "default")
def test_a_row_numbers(card: Path) -> None:
    (known,) = memories(card)
    for number, good in (("0.5", True), ("1.5", False), ("-0.1", False)):
        assert (found(card, BORN, f"confidence: {number}") == {}) == good
        links = f"links: [{{target: {known}, type: supports, strength: {number}}}]"
        assert (found(card, BORN, links) == {}) == good


@row("A link has one of five types, and its target exists", "default")
def test_a_row_links(card: Path) -> None:
    (known,) = memories(card)
    for word in ("follows", "references", "contradicts", "supports", "related"):
        assert found(card, BORN, f"links: [{{target: {known}, type: {word}}}]") == {}
    assert found(card, BORN, f"links: [{{target: {known}, type: likes}}]")
    assert "reference-lost" in found(card, BORN, f"links: [{{target: {B}, type: related}}]")


@row("A memory is true from and until a date or a time", "default")
def test_a_row_validity(card: Path) -> None:
    assert found(card, BORN, "valid_from: 2026-01-01", "valid_until: 2026-05-01T09:00:00Z") == {}
    assert found(card, BORN, "valid_until: soon")


@row("Flags are true or false, and written only where they are true", "default")
def test_a_row_flags(repo: Path) -> None:
    id_ = done(repo, "add", "The barn is dry.", "--pin")["id"]
    path = repo / memories(repo)[id_].path
    assert "\npinned: true\n" in path.read_text("utf-8")
    done(repo, "pin", id_, "--off")
    assert "pinned" not in path.read_text("utf-8")
    assert found(repo, BORN, "pinned: perhaps")


@row("What is at its default is not written", "default")
def test_a_row_defaults(card: Path) -> None:
    (memory,) = memories(card).values()
    head = (card / memory.path).read_text("utf-8").split("---")[1]
    assert not any(f"\n{key}:" in head for key in ("status", "standing", "confidence", "tags"))


@row("Keys are in the order of the schema", "default")
def test_a_row_order(repo: Path) -> None:
    options = ("--tag", "barn", "--scope", "project:farm", "--title", "Barn", "--class", "short")
    id_ = done(repo, "add", "The barn is dry.", *options)["id"]
    lines = (repo / memories(repo)[id_].path).read_text("utf-8").split("---")[1].splitlines()
    keys = [line.partition(":")[0] for line in lines if ":" in line]
    wanted = ["id", "type", "title", "tags", "created", "scope", "decay"]
    assert [key for key in keys if key in wanted] == wanted


@row("Keys that memrepo does not know, and comments, survive a write of its own", "default")
def test_a_row_foreign(repo: Path) -> None:
    id_ = done(repo, "add", "The barn is dry.")["id"]
    path = repo / memories(repo)[id_].path
    mine = "\nmood: calm # by the pond\n# a line of mine\ncreated:"
    path.write_text(path.read_text("utf-8").replace("\ncreated:", mine), encoding="utf-8")
    git(repo, "commit", "-qam", "mine", "--no-verify")
    done(repo, "pin", id_)
    assert "mood: calm # by the pond\n# a line of mine\n" in path.read_text("utf-8")


@row("Words that YAML turns into other values stay as they are written", "default")
def test_a_row_yaml(card: Path, repo: Path) -> None:
    assert found(card, BORN, "subject: no", "predicate: 1.10", "object: 2026-02-07") == {}
    given = ("--subject", "no", "--predicate", "1.10", "--object", "2026-02-07")
    id_ = done(repo, "add", "The answer is no.", *given)["id"]
    done(repo, "pin", id_)
    memory = memories(repo)[id_]
    assert (memory.subject, memory.predicate, memory.object) == ("no", "1.10", "2026-02-07")


@row("A key stands once, and a header is one mapping", "default")
def test_a_row_duplicate_keys(card: Path) -> None:
    assert "frontmatter-duplicate-key" in found(card, BORN, "title: a", "title: b")
    assert "frontmatter-anchor" in found(card, BORN, "title: &x a")


@row("A field that a machine computes is not in the file: age, expiry, access counts", "default")
def test_a_row_derived(repo: Path) -> None:
    id_ = done(repo, "add", "The barn is dry.")["id"]
    done(repo, "run")
    path = repo / memories(repo)[id_].path
    before = path.read_bytes()
    done(repo, "show", id_, now=LATER)
    done(repo, "run", now=LATER)
    assert path.read_bytes() == before


@row("Equal texts are one memory", "default")
def test_a_row_same(card: Path) -> None:
    (known,) = memories(card)
    assert done(card, "add", "- The barn is dry.")["id"] == known


@row("Rewording keeps the id and adds the hash of the old text", "default")
def test_a_row_reword(repo: Path) -> None:
    id_ = done(repo, "add", "The barn is dry.")["id"]
    path = memories(repo)[id_].path
    done(repo, "edit", id_, "--text", "The barn is wet.")
    memory = memories(repo)[id_]
    assert (memory.path, memory.body) == (path, "The barn is wet.")
    assert [alias[:3] for alias in memory.former] == ["th-"]


@row("A scope names a user, project or agent, and recall heeds it", "default")
def test_a_row_scope(repo: Path) -> None:
    args = ("search", "lantern", "--no-touch", "--scope")
    for kind in ("user", "project", "agent"):
        id_ = done(repo, "add", f"The lantern of the {kind} is lit.", "--scope", f"{kind}:a")["id"]
        assert [hit["id"] for hit in done(repo, *args, f"{kind}:a")["hits"]] == [id_]
        assert not done(repo, *args, f"{kind}:b")["hits"]


@row("A chunk names its parent and its index", "default")
def test_a_row_chunk(card: Path) -> None:
    (known,) = memories(card)
    args = {"type_": "chunk", "layer": "context"}
    assert found(card, BORN, f"parent: {known}", "chunk: 0", **args) == {}
    assert found(card, BORN, f"parent: {known}", "chunk: first", **args)
    assert "reference-lost" in found(card, BORN, f"parent: {B}", "chunk: 0", **args)


@row("A confirmation is an actor and a time", "default")
def test_a_row_verified(repo: Path) -> None:
    id_ = done(repo, "add", "The barn is dry.")["id"]
    done(repo, "confirm", id_, now=LATER)
    (stamp,) = memories(repo)[id_].fields["verified"]
    assert (stamp.by, stamp.at) == ("human:person@example.org", parse_time(LATER))
    assert found(repo, BORN, "verified: [{by: human:x@example.org, at: yesterday}]")


@row("The repository has its areas, and one file for its configuration", "default")
def test_a_row_areas(card: Path) -> None:
    assert {"sources", "memories", "threads", "corrections", "tombstones", "views"} <= set(AREAS)
    assert (card / "memrepo.toml").is_file()
    assert "-merge -text" in (card / ".gitattributes").read_text("utf-8")


def test_each_row_has_an_end() -> None:
    assert_each_row_has_an_end(sys.modules[__name__], 28)
