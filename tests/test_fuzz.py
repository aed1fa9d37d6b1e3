"""What is read may be anything: mutated files end in a message, never in a traceback or a loss.

A mutation is made in a commit of a hand, in the work tree, or in the search
index, and a command is run in this process. `make test-long` makes 10,000, `make test` some.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from driving import LATER, LONG, NEXT_DAY, Done, done, git, memrepo

from memrepo.core import codec
from memrepo.core.errors import Exit, Problem
from memrepo.core.manifest import read_manifest
from memrepo.merge.tombstones import read_tombstone

COUNT = 1250 if LONG else 9
"""Mutations of each of eight kinds."""
ODD = (
    b"\xff", b"\0", b"---\n", b"\n---\n", b"{", b"[" * 3000, b"&a *a", b"!!python/object:x", b"\r",
    b"1e999999", b"9" * 5000, "\u2028\u202e".encode(), b"<<: *a\n", b"\t", b"'", b'"', b"id: x\n",
    b"null", b"-0", b"\xed\xa0\x80", b": ", b"lines: [9999999999999999999, -1]\n",
)  # fmt: skip


def mutated(data: bytes, draw: random.Random) -> bytes:
    """Return bytes that differ from some: flipped, cut, doubled, torn, or with something odd."""
    at, to = sorted((draw.randrange(len(data) + 1), draw.randrange(len(data) + 1)))
    match draw.randrange(8):
        case 0 if data:
            place = draw.randrange(len(data))
            flipped = data[place] ^ (1 << draw.randrange(8))
            return data[:place] + bytes([flipped]) + data[place + 1 :]
        case 1:
            return data[:at]
        case 2:
            return data[:at] + data[to:]
        case 3:
            return data[:at] + data[at:to] * 2 + data[to:]
        case 4:
            return data[:at] + draw.randbytes(draw.randrange(1, 20)) + data[at:]
        case 5:
            return b"" if draw.randrange(4) == 0 else data[to:] + data[:at]
        case _:
            return data[:at] + draw.choice(ODD) + data[at if draw.randrange(2) else to :]


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a repository that has a file of every kind, beside its workspace."""
    base = tmp_path_factory.mktemp("fuzz")
    workspace = base / "ws"
    (workspace / "memory").mkdir(parents=True)
    lines = "- The editor is vim.\n- The backup runs at night.\n- The lathe stands in bay four.\n"
    (workspace / "MEMORY.md").write_text(f"# Memory\n\n{lines}", encoding="utf-8")
    (workspace / "memory/2026-02-28.md").write_text("# Day\n\nThe kiln was lit.\n", "utf-8")
    done(base, "init", "repo", "--from", "ws")
    repo = base / "repo"
    done(repo, "run")
    gone = done(repo, "add", "The gate code is kept by Vera.", now=LATER)["id"]
    done(repo, "reject", gone, "--reason", "no", now=LATER)
    (workspace / "MEMORY.md").write_text(
        f"# Memory\n\n{lines}- The editor is helix.\n", encoding="utf-8"
    )
    memrepo(repo, "run", now=NEXT_DAY)
    for dispute in done(repo, "resolve", now=NEXT_DAY)["contradictions"]:
        memrepo(repo, "resolve", dispute["id"], "--both", now=NEXT_DAY)
    done(repo, "search", "editor", now=NEXT_DAY)
    done(repo, "session", "end", now=NEXT_DAY)
    done(repo, "search", "lathe", now=NEXT_DAY)
    return repo


@pytest.fixture
def repo(begun: Path, tmp_path: Path) -> Path:
    """Return a copy of it."""
    place = Path(shutil.copytree(begun.parent, tmp_path / "place", symlinks=True))
    git(place / "repo", "config", "memrepo.workspace", str(place / "ws"))
    git(place / "repo", "config", "user.email", "person@example.org")
    return place / "repo"


READS = (
    ["status"],
    ["search", "editor", "lathe"],
    ["check", "--all"],
    ["session", "show"],
    ["reject", "--list"],
    ["run", "--dry-run"],
    ["log"],
    ["topics"],
    ["resolve"],
    ["add", "The anvil is older than the loom."],
)


def sane(answer: Done, line: list[str], what: str) -> str:
    """Hold one answer to what is promised of all; return what was printed."""
    said = answer.out + answer.err
    assert answer.exit in {int(code) for code in Exit} - {int(Exit.BUG)}, (line, what, said[-2000:])
    assert "Traceback" not in said, (line, what, said[-2000:])
    return said


def draws(name: str) -> Iterator[random.Random]:
    for number in range(COUNT):
        yield random.Random(f"{name} {number}")


AREAS = {
    "memory": "memories/",
    "manifest": "runs/",
    "tombstone": "tombstones/",
    "configuration": "memrepo.toml",
}


def is_readable(kind: str, path: str, data: bytes) -> bool:
    match kind:
        case "memory":
            return codec.decode(path, data)[0] is not None
        case "manifest":
            return not isinstance(read_manifest(path, data), Problem)
        case "tombstone":
            return not isinstance(read_tombstone(path, data), Problem)
        case _:
            return True


@pytest.mark.parametrize("kind", AREAS)
def test_a_mutated_file_that_a_hand_committed(repo: Path, kind: str) -> None:
    base = git(repo, "rev-parse", "HEAD").strip()
    listed = git(repo, "ls-files", "-z").split("\0")
    files = {p: (repo / p).read_bytes() for p in listed if p}
    paths = [path for path in files if path.startswith(AREAS[kind])]
    if not paths:
        pytest.skip(f"no {kind} came about")
    for draw in draws(kind):
        path, line = draw.choice(paths), draw.choice(READS)
        data = mutated(files[path], draw)
        (repo / path).write_bytes(data)
        git(repo, "commit", "-qam", "by hand", "--no-verify", "--allow-empty")
        what = f"{path}: {data[:300]!r}"
        said = sane(memrepo(repo, *line, now="2026-03-03T09:00:00Z"), line, what)
        # A write puts back what only memrepo writes.
        is_as_it_was = kind == "tombstone" and (repo / path).read_bytes() == files[path]
        if kind == "configuration" and "memrepo.toml" not in said:
            continue_with = sane(memrepo(repo, "status", now=NEXT_DAY), ["status"], what)
            assert continue_with
        elif not is_readable(kind, path, data):
            told = sane(memrepo(repo, "status", now=NEXT_DAY), ["status"], what)
            assert path in told or is_as_it_was, what
        assert is_as_it_was or (repo / path).read_bytes() == data or line[0] == "add", what
        for other, bytes_ in files.items():
            if other.startswith(("memories/", "tombstones/", "sources/")) and other != path:
                assert (repo / other).read_bytes() == bytes_, (what, other)
        git(repo, "reset", "-q", "--hard", base)
        git(repo, "clean", "-qfd")


def test_a_mutated_index_gives_the_same_hits(repo: Path) -> None:
    index = repo / ".git/memrepo/index.sqlite3"
    expected = done(repo, "search", "editor", "lathe", "--no-touch", now=NEXT_DAY)["hits"]
    kept = index.read_bytes()
    for draw in draws("index"):
        line = ["search", "editor", "lathe", "--no-touch"]
        if draw.randrange(6):
            index.write_bytes(mutated(kept, draw))
        else:
            index.unlink()
        found = memrepo(repo, *line, now=NEXT_DAY)
        sane(found, line, "index")
        assert {hit["id"] for hit in found.data["hits"]} >= {h["id"] for h in expected[:1]}
        sane(memrepo(repo, "status", now=NEXT_DAY), ["status"], "index")
        for tail in ("", "-wal", "-shm", "-journal"):
            Path(f"{index}{tail}").unlink(missing_ok=True)
        index.write_bytes(kept)


def test_mutated_files_of_memrepos_own_folder(repo: Path) -> None:
    folder = repo / ".git/memrepo"
    own = [p for p in folder.rglob("*") if p.is_file() and not p.name.startswith("index")]
    kept = {path: path.read_bytes() for path in own}
    for draw in draws("own"):
        path = draw.choice(own)
        path.write_bytes(mutated(kept[path], draw))
        line = draw.choice(READS[:-1])
        sane(memrepo(repo, *line, now=NEXT_DAY), line, str(path))
        for one, data in kept.items():
            one.parent.mkdir(parents=True, exist_ok=True)
            one.write_bytes(data)
