"""A value taken out of a repository: nothing of it is left, and all else is what it was."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import hubs
import pytest
import workspaces
from driving import LATER, NEXT_DAY, assert_sound, begin, copied, done, git, memories, memrepo
from purging import SPELLED, VALUE, collect, everything, given, purged, traces

from memrepo.merge import purging
from memrepo.merge.purging import MARK, find, needles_of
from memrepo.store import remote
from memrepo.store.git import opened

MEMORY = """# Memory

## People

- Núria Valdés prefers green tea in the morning.
- The server alpha keeps the archive of the choir.
- **Editor:** vim

## Office

- We decided to meet at NURIA VALDES' desk on Mondays.
- The keys hang beside the door of the store room.
"""
LOG = """# 2026-02-27

## 09:00 standup

Núria Valdés said that the release is on Friday.

## 10:00 parser

The parser was mended, and nobody was told of it.
"""


@pytest.fixture(scope="module")
def _spoken_of(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("spoken")
    files = {"MEMORY.md": MEMORY.encode(), "memory/2026-02-27.md": LOG.encode()}
    begin(base, workspaces.write(base / "workspace", files))
    done(base / "repo", "add", "Núria Valdés likes the sea", "--reason", "so Núria Valdés said")
    return base


@pytest.fixture
def repo(_spoken_of: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a repository that speaks of somebody in a few places; yours to change."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return copied(_spoken_of, tmp_path)


# -- what goes, and what stays -----------------------------------------------------------------


def test_nothing_of_the_value_is_left_in_objects_files_and_names(repo: Path) -> None:
    assert all(find(word, needles_of([VALUE])) for word in SPELLED)
    assert traces(repo)
    purged(repo)
    assert traces(repo) == []
    assert_sound(repo)
    assert done(repo, "doctor")
    assert given(repo, VALUE, "purge", "--dry-run").data["hits"] == {}


@pytest.mark.parametrize("made", ["branch", "tag"])
def test_a_ref_that_has_the_value_in_its_name_stops_it(repo: Path, made: str) -> None:
    git(repo, made, "draft-nuria-valdes")
    before = git(repo, "for-each-ref")
    answer = given(repo, VALUE, "purge")
    assert answer.exit == 5
    assert f"git {made} -" in answer.error["fix"]
    assert find(answer.error["message"], needles_of([VALUE])) == []
    assert git(repo, "for-each-ref") == before


def test_all_else_is_what_it_was_line_by_line_and_commit_by_commit(repo: Path) -> None:
    before = versions(repo)
    dates = git(repo, "log", "--format=%an %at %ct")
    count = git(repo, "rev-list", "--count", "HEAD")
    purged(repo)
    assert git(repo, "diff", "--name-only", "HEAD~1", "--", ":!views") == ""
    git(repo, "reset", "-q", "--hard", "HEAD~1")  # the commit that renewed the pages
    after = versions(repo)
    assert git(repo, "rev-list", "--count", "HEAD") == count
    assert git(repo, "log", "--format=%an %at %ct") == dates
    assert len(after) == len(before)
    for old, new in zip(before, after, strict=True):
        assert len(old) == len(new)
        for (_, text), (_, now) in zip(old, new, strict=True):
            lines = list(zip(text.split("\n"), now.split("\n"), strict=True))
            for one, other in lines:
                named = re.search(r"mem-|th-|un-|[0-9a-f]{40}|-[0-9a-f]{6}|memrepo:view|:hot ", one)
                word = other.startswith(f"| {MARK} |")  # which only the value had
                assert one == other or named or word or find(one, needles_of([VALUE])), one


def versions(repo: Path) -> list[list[tuple[str, str]]]:
    """Return every commit of HEAD as the blobs that it holds, ordered as they were made."""
    found = []
    for commit in git(repo, "rev-list", "--topo-order", "HEAD").split():
        rows = [
            row.split("\t") for row in git(repo, "ls-tree", "-r", "-z", commit).split("\0") if row
        ]
        kept = [(path, git(repo, "cat-file", "blob", head.split()[2])) for head, path in rows]
        found.append(sorted(kept, key=lambda row: (row[1].count("\n"), len(row[1]) // 4096)))
    return found


def test_a_repository_that_holds_no_such_value_is_left_alone(repo: Path) -> None:
    before = git(repo, "for-each-ref")
    answer = given(repo, "Aurelio Santander", "purge")
    assert answer.exit == 1
    assert git(repo, "for-each-ref") == before
    with opened(repo) as found:
        assert not remote.folder_of(found).exists()


def test_a_dry_run_names_every_class_and_changes_nothing(repo: Path) -> None:
    before = git(repo, "for-each-ref")
    answer = given(repo, VALUE, "purge", "--dry-run")
    assert answer.exit == 0
    hits = answer.data["hits"]
    wanted = {"file", "file name", "commit", "work tree"}
    assert wanted <= hits.keys()
    assert find(answer.out, needles_of([VALUE])) == []
    assert git(repo, "for-each-ref") == before
    assert answer.data["left"].keys() == {"workspace"}


@pytest.mark.parametrize("word", [VALUE, "mem-0123456789abcdef", "nuria"])
def test_a_value_is_not_taken_from_the_command_line(repo: Path, word: str) -> None:
    answer = memrepo(repo, "purge", word)
    assert answer.exit == 2
    assert "standard input" in answer.error["fix"]


@pytest.mark.parametrize(
    "value", ["", "  \n", "an", "-.-", "supersede", "Memories", "fact", "first page"]
)
def test_too_short_a_value_and_a_word_of_memrepos_own_is_refused(repo: Path, value: str) -> None:
    before = git(repo, "for-each-ref")
    assert given(repo, value, "purge").exit == 2
    assert git(repo, "for-each-ref") == before


@pytest.fixture
def other(tmp_path: Path) -> Path:
    """Return a repository whose subjects, names, pages and headings hold a part of a value."""
    texts = {
        "MEMORY.md": "- Yes, at the very old and rather cold dock Wim Boersma signed the sale.\n"
        "- Never call JÖRG VAN DIJK before 10.\n"
        "- See [it](people/J%C3%B6rg%20van%20Dijk.md), J&ouml;rg&nbsp;van&nbsp;Dijk has keys.\n"
        "- The red boat of the harbour is worth keeping.\n",
        "memory/2026-02-27.md": "# 2026-02-27\n\n- Then Wim Boersma left.\n",
        "people/Wim Boersma.md": "# Wim Boersma\n\n- Likes herring.\n- Never eats plums.\n",
    }
    files = {name: text.encode() for name, text in texts.items()}
    return begin(tmp_path, workspaces.write(tmp_path / "workspace", files))


@pytest.mark.parametrize(
    ("value", "parts"),
    [
        ("Wim Boersma", r"\bwim\b|boersma"),
        ("Jörg van Dijk", r"j[öo]rg|dijk|c3-b6|j-ouml|\| van \|"),
    ],
)
def test_no_word_of_a_value_is_left_in_subjects_names_pages_and_reports(
    other: Path, value: str, parts: str
) -> None:
    words = re.compile(parts, re.IGNORECASE)
    assert any(words.search(text) for _, text in everything(other))
    purged(other, value)
    left = [(place, found[0]) for place, text in everything(other) if (found := words.search(text))]
    assert left == []
    assert given(other, value, "purge", "--dry-run").data["hits"] == {}
    assert done(other, "check")["problems"] == []


def test_a_topic_that_another_memory_has_stays_on_the_page_of_today_only(other: Path) -> None:
    done(other, "add", "The van is red.")
    purged(other, "Jörg van Dijk")
    assert "| van |" in (other / "views" / "TOPICS.md").read_text()
    assert "| van |" not in git(other, "show", "HEAD~1:views/TOPICS.md")
    assert given(other, "Jörg van Dijk", "purge", "--dry-run").data["hits"] == {}


def test_the_sentences_of_memrepo_keep_a_value_that_occurs_in_them(other: Path) -> None:
    reasons = git(other, "log", "--format=%(trailers:key=Memrepo-Reason)")
    own = git(other, "ls-files", "templates")
    for value in ("worth keeping", "daily log"):
        purged(other, value) if value == "worth keeping" else given(other, value, "purge")
    assert git(other, "log", "--format=%(trailers:key=Memrepo-Reason)").endswith(reasons)
    assert git(other, "ls-files", "templates") == own
    assert any(m.body.endswith("harbour is PURGED.") for m in memories(other).values())


def test_a_phrase_of_memrepo_goes_from_what_people_wrote(repo: Path) -> None:
    done(repo, "add", "The tea is stated in the source, and worth keeping.")
    done(repo, "add", "Mark and Ida restart codex on host 7.")
    for value in ("Mark", "codex"):
        assert given(repo, value, "purge", "--dry-run").data["hits"]["file"]
    purged(repo, "worth keeping")
    assert not [m.body for m in memories(repo).values() if "worth keeping" in m.body]
    assert given(repo, "worth keeping", "purge", "--dry-run").data["hits"] == {}


# -- what goes on working ----------------------------------------------------------------------


def test_a_value_that_comes_back_is_a_new_one_until_a_pattern_keeps_it_out(repo: Path) -> None:
    purged(repo)
    assert done(repo, "add", "nuria_valdes was here")["id"]
    purged(repo)
    config = repo / "memrepo.toml"
    pattern = "(?i)n[uú]ria[ _]vald[eé]s'?"
    config.write_text(f'{config.read_text()}\n[secrets]\npatterns = ["{pattern}"]\n')
    git(repo, "commit", "-qam", "Keep a name out")
    assert memrepo(repo, "add", "nuria_valdes was here").exit == 2
    notes = repo.parent / "workspace" / "memory" / "2026-03-01.md"
    notes.write_text("# 2026-03-01\n\nnuria_valdes wrote again, of other things.\n")
    done(repo, "run", now=NEXT_DAY)
    assert traces(repo) == []


def test_a_tombstone_that_held_the_value_tells_nobody(repo: Path) -> None:
    (id_,) = (m.id for m in memories(repo).values() if "likes the sea" in m.body)
    done(repo, "reject", id_, "--reason", "a person asked for it")
    other = done(repo, "add", "The boat is called Ida.")["id"]
    done(repo, "reject", other, "--reason", "it is called otherwise")
    files = {p.name: p.read_text() for p in (repo / "tombstones").iterdir()}
    purged(repo)
    now = {p.name: p.read_text() for p in (repo / "tombstones").iterdir()}
    assert len(now) == 2
    (old, kept) = sorted(files, key=lambda name: "Ida" in files[name])
    assert now[kept] == files[kept]
    assert old not in now
    (new,) = (text for name, text in now.items() if name != kept)
    hashes = re.findall(r"(?:th|ts|mem)-[0-9a-f]{16}", files[old])
    assert hashes
    assert not [hash_ for hash_ in hashes if hash_ in new]
    assert f"{MARK} likes the sea" in new
    assert memrepo(repo, "add", "The boat is called Ida.").exit == 3
    assert done(repo, "doctor")


FIELDS = """title: Invoice of Ortega
subject: Ortega
predicate: bill of ortega
object: ORTEGA, unpaid
description: What Ortega owes
tags: [ortega, ortega/open, "mrs.ortega"]
entities: [Ortega, Casa Ortega]
scope: user:ortega
aliases: [ortega, Ortega's bill]
threads: [ortega-2026]
decay: ortega
generated: human:ortega@example.org 2026-03-01T09:00:00Z
verified: human:ortega@example.org 2026-03-01T09:00:00Z
client: "[[Ortega]]"
ortega: {ortega: [Ortega, 3]}
about ortega: yes # Ortega said so"""


def test_every_field_of_a_header_may_hold_the_value(repo: Path) -> None:
    config = repo / "memrepo.toml"
    config.write_text(f'{config.read_text()}\n[decay]\nttl = {{ ortega = "5 d" }}\n')
    for n, field in enumerate((FIELDS, *FIELDS.split("\n"))):
        text = f"---\ntype: fact\n{field}\n---\n\nInvoice {n} of Ortega is open.\n"
        (repo / f"memories/knowledge/invoice-{n}.md").write_text(text)
    git(repo, "add", "memories", "memrepo.toml")
    git(repo, "commit", "-q", "-m", "The invoices")
    bill = done(repo, "add", "Ortega pays by bank transfer.", "--tag", "ortega/paid")["id"]
    other = next(m.id for m in memories(repo).values() if m.body.startswith("Invoice 0"))
    done(repo, "link", other, "supports", bill)
    purged(repo, "Ortega")
    assert traces(repo, "Ortega") == []
    (memory,) = (m for m in memories(repo).values() if m.body.startswith("Invoice 0"))
    assert (memory.tags, memory.scope) == (("PURGED", "PURGED/open", "mrs.PURGED"), "user:PURGED")
    (target,) = (m for m in memories(repo).values() if "bank transfer" in m.body)
    assert [link.target for link in memory.links] == [target.id]
    assert done(repo, "check")["problems"] == []


@pytest.mark.parametrize("is_tracked", [True, False])
def test_the_mark_may_be_a_key_of_toml(repo: Path, is_tracked: bool) -> None:
    (repo / "bills.toml").write_text('of = "Ortega"\nortega = 1\n')
    if is_tracked:
        git(repo, "add", "bills.toml")
        git(repo, "commit", "-qm", "The bills")
    purged(repo, "Ortega")
    assert (repo / "bills.toml").read_text() == 'of = "PURGED"\nPURGED = 1\n'


def test_a_date_that_is_the_value_leaves_no_date_behind(repo: Path) -> None:
    notes = repo.parent / "workspace" / "MEMORY.md"
    notes.write_text(f"{notes.read_text()}- Our decision of 1984-05-12: the choir owns the boat.\n")
    done(repo, "run", now=LATER)
    done(repo, "add", "He has the boat.", "--valid-from", "1984-05-12", now=LATER)
    assert "1984-05-12" in [s.captured for m in memories(repo).values() for s in m.sources]
    purged(repo, "1984-05-12", now=LATER)
    assert traces(repo, "1984-05-12") == []
    assert done(repo, "check")["problems"] == []


# -- what is tried -----------------------------------------------------------------------------


def test_a_history_on_which_something_breaks_does_not_take_the_old_ones_place(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = git(repo, "for-each-ref"), git(repo, "ls-files", "--stage")
    with monkeypatch.context() as patch:
        # headers are lost
        patch.setattr(purging, "replaced", lambda text, spans, mark="PURGED": mark)
        answer = given(repo, VALUE, "purge")
    assert answer.exit == 3
    assert "found faults in the history without the value (memories/" in answer.error["message"]
    assert (git(repo, "for-each-ref"), git(repo, "ls-files", "--stage")) == before
    assert not (repo / ".git" / remote.FOLDER).exists()
    assert_sound(repo)


# -- kills -------------------------------------------------------------------------------------


STEPS = (
    "_add_objects",
    "_move_refs",
    "_clean_files",
    "_clean_git_folder",
    "_drop_objects",
)


class Killed(BaseException):
    """Stands for a signal."""


@pytest.mark.parametrize("step", STEPS)
def test_a_kill_while_it_takes_its_place_is_finished_by_the_next_command(
    repo: Path, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def kill(*_: object) -> None:
        for name in ("refs/heads/main.lock", "packed-refs.lock", "index.lock"):
            (repo / ".git" / name).write_text("")
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(remote, step, kill)
        with pytest.raises(Killed):
            given(repo, VALUE, "purge")
    done(repo, "add", "The first thing written after a power cut.", now=LATER)
    assert traces(repo) == []
    assert_sound(repo)


def test_who_commits_while_it_takes_its_place_keeps_the_old_repository(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    move = remote._move_refs

    def meanwhile(*given: Any) -> None:
        git(repo, "commit", "-q", "--allow-empty", "--no-verify", "-m", "by hand")
        move(*given)

    with monkeypatch.context() as patch:
        patch.setattr(remote, "_move_refs", meanwhile)
        answer = given(repo, VALUE, "purge")
    assert answer.exit == 3
    assert git(repo, "log", "-1", "--format=%s").strip() == "by hand"
    assert_sound(repo)
    purged(repo)
    assert traces(repo) == []


@pytest.mark.parametrize("step", ["rewrite", "make_ready"])
def test_a_kill_before_that_leaves_the_old_repository(
    repo: Path, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = git(repo, "for-each-ref"), git(repo, "ls-files", "--stage")

    def kill(*_: object) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(remote, step, kill)
        with pytest.raises(Killed):
            given(repo, VALUE, "purge")
    assert (git(repo, "for-each-ref"), git(repo, "ls-files", "--stage")) == before
    done(repo, "add", "The first thing written after a power cut.", now=LATER)
    purged(repo, now=LATER)
    assert traces(repo) == []


# -- a hub and its clones ----------------------------------------------------------------------


@pytest.fixture
def machines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path, Path]:
    """Return a hub and two clones of one person that speak of somebody; yours to change."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    laptop, desk = hubs.begin(tmp_path, "laptop", "desk")
    for where, text in ((laptop, "Núria Valdés likes the sea"), (desk, "The boat is called Ida.")):
        done(where, "add", text, "--reason", "told at lunch")
        done(where, "sync")
    hubs.converge(laptop, desk)
    return tmp_path / "hub.git", laptop, desk


def test_of_two_clones_that_purge_each_for_itself_the_second_is_refused(
    machines: tuple[Path, Path, Path],
) -> None:
    _, laptop, desk = machines
    purged(laptop)
    purged(desk)
    done(laptop, "sync", now=LATER)
    assert memrepo(desk, "sync", now=LATER).exit == 3
    assert traces(desk) == []


@pytest.mark.parametrize("merged", [False, True])
def test_a_clone_that_only_fetched_the_new_history_brings_nothing_of_the_old_one_back(
    machines: tuple[Path, Path, Path], merged: bool
) -> None:
    hub, laptop, desk = machines
    done(desk, "add", "The mooring is rented until May.")
    purged(laptop)
    collect(hub, done(laptop, "sync", now=LATER).get("collect", ""))
    for ref in git(desk, "for-each-ref", "--format=%(refname)", "refs/memrepo").split():
        git(desk, "update-ref", "-d", ref)  # as if it had never synced
    git(desk, "fetch", "-q")
    if merged:
        git(desk, "merge", "-q", "--no-verify", "-X", "ours", "-m", "by hand", "origin/main")
    there = git(hub, "rev-parse", "main")
    for argv in (["sync"], ["sync", "--accept-rewritten"], ["sync", "--dry-run"]):
        answer = memrepo(desk, *argv, now=NEXT_DAY)
        assert answer.exit == 3
        assert "bring the purged value back" in answer.error["message"]
        assert "clone the hub again" in answer.error["fix"]
        assert "store there with `memrepo add`" in answer.error["fix"]
        assert "patch`" not in answer.error["fix"], "patches of the old history have the value"
    assert git(hub, "rev-parse", "main") == there
    for verb in ("status", "run"):
        told = memrepo(desk, verb, now=NEXT_DAY, as_json=False)
        assert (told.exit, "bring the purged value back" in told.err) == (0, True)
    found = memrepo(desk, "check", now=NEXT_DAY)
    assert found.exit == 1
    assert "purged-elsewhere" in {p["rule"] for p in found.data["problems"]}
    memrepo(desk, "hooks", "install", now=NEXT_DAY)
    git(desk, "push", "-q", "origin", "HEAD:main", check=False)
    assert git(hub, "rev-parse", "main") == there
    new, own = hubs.clone(hub.parent, "new"), "The mooring is rented until May."
    listed = (memrepo(where, "log", now=NEXT_DAY, as_json=False).out for where in (desk, new))
    assert [own in lines for lines in listed] == [True, False]
    done(new, "add", own, now=NEXT_DAY)
    done(new, "sync", now=NEXT_DAY)
    hubs.converge(new, laptop, now=NEXT_DAY)
    for where in (laptop, new):
        assert done(where, "search", "mooring", now=NEXT_DAY)["hits"][0]["text"] == own
        assert not memrepo(where, "check", now=NEXT_DAY).data["problems"]
        assert "Valdés" not in git(where, "log", "-p", "--branches", "--remotes")


@pytest.mark.parametrize("commits", [1, 120])  # loose objects, and a pack
def test_old_history_that_somebody_pushes_again_is_not_fetched(
    machines: tuple[Path, Path, Path], commits: int
) -> None:
    _, laptop, desk = machines
    purged(laptop)
    done(laptop, "sync", now=LATER)
    for number in range(commits):
        git(desk, "commit", "-q", "--allow-empty", "--no-verify", "-m", f"by hand {number}")
    git(desk, "push", "-q", "--force", "--no-verify", "origin", "HEAD:main")
    before = sorted((laptop / ".git/objects").rglob("*"))
    assert memrepo(laptop, "sync", now=NEXT_DAY).exit == 3
    assert traces(laptop) == []
    assert sorted((laptop / ".git/objects").rglob("*")) == before


def test_what_is_not_committed_stops_it(repo: Path) -> None:
    (repo / "memrepo.toml").write_text((repo / "memrepo.toml").read_text() + "\n# mine\n")
    answer = given(repo, VALUE, "purge")
    assert answer.exit == 5
    assert "memrepo.toml" in answer.error["message"]
    assert (repo / "memrepo.toml").read_text().endswith("# mine\n")


def test_the_text_of_a_memory_can_be_named_instead_of_a_value(repo: Path) -> None:
    (id_,) = (hit["id"] for hit in done(repo, "search", "sea", "--no-touch")["hits"][:1])
    assert memrepo(repo, "purge", id_).exit == 0
    everywhere = "\n".join(text for _, text in everything(repo))
    assert "likes the sea" not in everywhere
    assert "likes-the-sea" not in everywhere
    assert "prefers green tea" in everywhere


def test_the_old_id_of_a_commit_names_the_new_one(repo: Path) -> None:
    head, first = git(repo, "rev-parse", "HEAD", "HEAD^").split()
    found = then(repo, first)
    purged(repo)
    assert git(repo, "cat-file", "-t", head, check=False) == ""
    assert then(repo, first) == found
    assert then(repo, head[:12])


def then(repo: Path, revision: str) -> list[str]:
    """Return what a search finds at an older commit."""
    argv = ("search", "server alpha", "--at", revision, "--no-touch")
    return [hit["text"] for hit in done(repo, *argv)["hits"] if "server" in hit["text"]]


def test_a_memory_is_purged_by_its_slug_after_a_value_of_it_was(tmp_path: Path) -> None:
    done(tmp_path, "init", "notes")
    repo = tmp_path / "notes"
    done(repo, "add", "Jonas has an offer by Katrin and leaves in spring.")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdin.read", lambda: "Katrin", raising=False)
        done(repo, "purge")
    (left,) = memories(repo).values()
    for short in (left.id[4:6], left.id[:-1], left.slug[:-1]):
        assert memrepo(repo, "purge", short).exit == 2
    done(repo, "purge", left.slug)
    assert [m.body for m in memories(repo).values()] == ["PURGED."]


def test_a_second_purge_of_a_value_that_a_run_brought_back_is_known_elsewhere(
    tmp_path: Path,
) -> None:
    hub, first, second = (tmp_path / name for name in ("hub.git", "first", "second"))
    git(tmp_path, "init", "-q", "--bare", "-b", "main", str(hub))
    for repo, text in ((first, "The shop runs on Debian 12."), (second, f"It was {VALUE}.")):
        (tmp_path / f"of-{repo.name}").mkdir()
        (tmp_path / f"of-{repo.name}" / "MEMORY.md").write_text(f"# Memory\n- {text}\n")
        if repo == second:
            git(tmp_path, "clone", "-q", str(hub), repo.name)
        done(tmp_path, "init", repo.name, "--from", f"of-{repo.name}")
        if repo == first:
            git(repo, "remote", "add", "origin", str(hub))
        done(repo, "run")
        done(repo, "sync")
    purged(second)
    done(second, "sync", now=LATER)
    git(tmp_path, "clone", "-q", str(hub), "third")
    done(tmp_path, "init", "third", "--from", "of-first")
    done(second, "run", now=NEXT_DAY)  # its workspace still states the value
    done(second, "sync", now=NEXT_DAY)
    done(tmp_path / "third", "sync", now=NEXT_DAY)
    purged(tmp_path / "third")
    done(tmp_path / "third", "sync", now=NEXT_DAY)
    for argv in (["sync"], ["sync", "--accept-rewritten"]):
        answer = memrepo(second, *argv, now=NEXT_DAY)
        assert (answer.exit, "bring the purged value back" in answer.error["message"]) == (3, True)
    done(tmp_path / "third", "sync", now=NEXT_DAY)
    assert VALUE not in git(hub, "log", "-p", "main")
