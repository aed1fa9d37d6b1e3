"""The history of a repository in terms of memories: commits, changed files and landed runs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from memrepo.core.changes import Op, op_of
from memrepo.core.layout import Layout
from memrepo.core.messages import PREFIX
from memrepo.core.patterns import regex
from memrepo.store.git import seconds

if TYPE_CHECKING:
    from memrepo.store.local import Repo

_KEYS = ("Run", "Op", "Memory", "Actor", "Reason", "Reverts", "Print", "Settles", "Discards")
_VALUE = "\x1e"
_COMMIT = regex(r"[0-9a-f]{40,64}")
WIDTH = 5 + len(_KEYS)


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """A commit: its ids, date, author and subject, with memrepo's trailers if memrepo wrote it."""

    commit: str
    parents: tuple[str, ...]
    when: datetime
    author: str
    subject: str
    trailers: Mapping[str, tuple[str, ...]] = msgspec.field(default_factory=dict)

    def trailer(self, key: str) -> str:
        """Return a trailer's first value, or an empty string if the commit has no such trailer."""
        return next(iter(self.trailers.get(key, ())), "")

    @property
    def prints(self) -> tuple[str, ...]:
        """Return fingerprints that distinguish the commit's changes even if their ids are equal."""
        return self.trailers.get("Print", ())

    @property
    def op(self) -> Op:
        """Return the commit's operation, or `edit` if memrepo did not write the commit."""
        return op_of(self.trailer("Op"))

    @property
    def run(self) -> str:
        """Return the id of the commit's run, or an empty string."""
        return self.trailer("Run")

    @property
    def is_run(self) -> bool:
        """Return whether this commit is the merge that landed a run."""
        return self.op == "run" and len(self.parents) == 2

    def as_json(self) -> dict[str, object]:
        """Return the entry as a JSON object."""
        return {
            "commit": self.commit,
            "when": self.when.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "op": self.op,
            "run": self.run,
            "subject": self.subject,
            "author": self.author,
            "actor": self.trailer("Actor"),
            "reason": self.trailer("Reason"),
            "memories": list(self.trailers.get("Memory", ())),
            "reverts": list(self.trailers.get("Reverts", ())),
        }


def _trailer(key: str) -> str:
    return f"%(trailers:key={PREFIX}{key},valueonly,unfold,separator=%x1e)"


def _format() -> str:
    # Fields end in NUL, the only byte that a commit message cannot contain.
    return "%x00".join(["%H", "%P", "%ct", "%an <%ae>", "%s", *map(_trailer, _KEYS)])


def entries(repo: Repo, *arguments: str) -> Iterator[Entry]:
    """Yield the commits listed by `git log`, newest first. The arguments must be trusted."""
    raw = repo.call("log", "-z", f"--format={_format()}", *arguments)  # `status` calls this
    flat = raw.split("\0")[:-1]
    for parts in zip(*[iter(flat)] * WIDTH, strict=True):
        yield _entry(parts)


def _entry(parts: Sequence[str]) -> Entry:
    commit, parents, when, author, subject = parts[:5]
    values = {
        key: tuple(v for v in part.split(_VALUE) if v)
        for key, part in zip(_KEYS, parts[5:], strict=True)
    }
    return Entry(
        commit=commit,
        parents=tuple(parents.split()),
        when=datetime.fromtimestamp(seconds(when), tz=UTC),
        author=author,
        subject=subject,
        trailers={key: value for key, value in values.items() if value},
    )


def touching(
    repo: Repo, head: str, patterns: Sequence[str], *options: str
) -> list[tuple[Entry, tuple[str, ...]]]:
    """Return (commit, changed paths) pairs of commits that change matching files, newest first.

    Patterns are pathspecs with magic. The parents of an entry are the nearest commits that also
    change matching files. The result is therefore a complete graph of the simplified history, with
    both sides of each merge. The paths of a merge are those that differ from its first parent.
    `options` are further options of `git log`.
    """
    raw: str = repo.git.log(
        *"-z --name-only --no-renames --topo-order --full-history --simplify-merges".split(),
        *("--diff-merges=first-parent", f"--format={_format()}%x00", *options, head),
        *("--", *patterns),
        env={"GIT_LITERAL_PATHSPECS": "0"},
    )
    flat = raw.split("\0")
    found, at = [], 0
    while at + WIDTH < len(flat):
        entry = _entry(flat[at : at + WIDTH])
        at += WIDTH
        paths = []
        # Names after a commit's fields are empty or start with a newline. A commit id has no slash.
        while at < len(flat) and (not flat[at] or "/" in flat[at]):
            paths += [flat[at].removeprefix("\n")] if flat[at] else []
            at += 1
        found.append((entry, tuple(paths)))
    return found


def runs(repo: Repo, head: str) -> Iterator[Entry]:
    """Yield the merges that landed runs, newest first.

    After a sync, some of these merges are no longer on the first-parent line.
    """
    found = entries(repo, "--merges", f"--grep=^{PREFIX}Op: run$", head)
    return (entry for entry in found if entry.is_run)


def decided_from(repo: Repo, head: str) -> str:
    """Return the ledger commit that the newest run based its decisions on, or "".

    The commit may be missing from this repository.
    """
    key = f"{PREFIX}Access"
    form = f"--format=%(trailers:key={key},valueonly)"
    found = repo.git.log("-1", f"--grep=^{key}: ", form, head).strip()
    return found if _COMMIT.fullmatch(found) else ""


def last_of(repo: Repo, head: str, op: Op, memory: str) -> Entry | None:
    """Return the newest commit in which a given operation changed a memory, or None."""
    wanted = (f"--grep=^{PREFIX}Memory: {memory}$", f"--grep=^{PREFIX}Op: {op}$")
    return next(entries(repo, "-1", "--all-match", *wanted, head), None)


def birth(repo: Repo, head: str, config: str) -> str:
    """Return the first commit in a head's history that added `memrepo.toml`, or "".

    A commit is not found if a merge itself added the file.
    """
    words = ("log", "--diff-filter=A", "--reverse", "--format=%H", head, "--", config)
    return next(iter(repo.call(*words).split()), "")


def last_touched(repo: Repo, head: str, paths: Iterable[str]) -> dict[str, datetime]:
    """Return {path: time of its last change along first parents}, computed in one walk."""
    wanted = set(paths)
    found: dict[str, datetime] = {}
    if not wanted:
        return found
    folder = _common_folder(wanted)
    options = "--first-parent -m --name-only -z --no-renames --format=%x00%ct".split()
    raw = repo.git.log(*options, head, "--", folder or ".")
    # A record is NUL, date, NUL, newline, and names that each end in NUL.
    for record in raw.removeprefix("\0").split("\0\0"):
        when, _, names = record.partition("\0")
        for name in names.removeprefix("\n").split("\0"):
            if name in wanted and name not in found:
                found[name] = datetime.fromtimestamp(seconds(when), tz=UTC)
    return found


class Written(msgspec.Struct, frozen=True, kw_only=True):
    """The author and the files of one commit. For foreign commits, `actor` and `op` are empty."""

    commit: str
    when: datetime
    email: str
    op: str
    actor: str
    paths: tuple[str, ...]


_WRITTEN = "%x00".join(["%x1d%H", "%ct", "%ae", _trailer("Op"), _trailer("Actor")])
_HEAD = regex("\n?\x1d([0-9a-f]{40,64})")


def written(repo: Repo, span: Iterable[str]) -> Iterator[Written]:
    """Yield (commit, changed paths) for the non-merge commits in a range, newest first."""
    options = "--stdin -z --topo-order --no-merges --name-only --no-renames".split()
    lines = "".join(f"{word}\n" for word in span)
    raw = repo.git.log(*options, f"--format={_WRITTEN}", istream=lines)
    for commit, words in records(raw):
        when, email, op, actor, *paths = words
        yield Written(
            commit=commit,
            when=datetime.fromtimestamp(seconds(when), tz=UTC),
            email=email,
            op=op,
            actor=actor.split(_VALUE)[0],
            paths=tuple(p for p in paths if p),
        )


def records(raw: str) -> Iterator[tuple[str, list[str]]]:
    """Split the output of `git log -z` into (commit, fields) pairs.

    The format must begin with `%x1d%H`, and its fields must end in NUL. Only a complete field can
    start a record.
    """
    commit, words = "", list[str]()
    for word in raw.split("\0"):
        if head := _HEAD.fullmatch(word):
            if commit:
                yield commit, words
            commit, words = head[1], []
        else:
            words.append(word.removeprefix("\n"))
    if commit:
        yield commit, words


def _common_folder(paths: Iterable[str]) -> str:
    heads = {path.rsplit("/", 1)[0].split("/", 1)[0] if "/" in path else "" for path in paths}
    return heads.pop() if len(heads) == 1 else ""


def reverts(repo: Repo, head: str) -> list[Entry]:
    """Return all revert commits in a head's history, newest first.

    After a sync, some reverts are not on the first-parent line.
    """
    return list(entries(repo, "--topo-order", "--grep", f"^{PREFIX}Reverts: ", head))


def taken_back(repo: Repo, head: str, void: Collection[str] = ()) -> dict[str, frozenset[str]]:
    """Return {commit: reverted memories} of the commits whose reverts are effective at a head.

    A revert names the memories of the chain, or part of the chain, that it reverted. A revert of a
    revert restores them. Reverts of other clones are not on the first-parent line, but count too.
    Reverts in `void` do not count, because git undid them.
    """
    taken = {e.commit: e for e in reversed(reverts(repo, head)) if e.commit not in void}
    found = _effects(taken)
    return {commit: ids for commit, ids in found.items() if ids and commit not in taken}


def reverted_by(repo: Repo, head: str, commit: str) -> tuple[Entry, frozenset[str]] | None:
    """Return (newest effective revert, reverted memories) for a commit, or None."""
    taken = {e.commit: e for e in reversed(reverts(repo, head))}
    found = _effects(taken)
    if not (ids := found.get(commit, frozenset())):
        return None
    named = [e for e in taken.values() if commit in e.trailers.get("Reverts", ())]
    in_effect = [e for e in named if not ids.isdisjoint(_memories(e) - found.get(e.commit, _NONE))]
    return (in_effect or named)[-1], ids


_NONE: frozenset[str] = frozenset()


def _memories(entry: Entry) -> frozenset[str]:
    return frozenset(entry.trailers.get("Memory", ()))


def _effects(taken: Mapping[str, Entry]) -> dict[str, frozenset[str]]:
    """Apply the reverts, oldest first, and return {commit: memories that remain reverted}."""
    found: dict[str, frozenset[str]] = {}

    def mark(revert: Entry, ids: frozenset[str], *, back: bool) -> None:
        for target in revert.trailers.get("Reverts", ()):
            gone = found.get(target, frozenset())
            found[target] = gone | ids if back else gone - ids
            if target in taken:
                mark(taken[target], ids, back=not back)

    for revert in taken.values():
        mark(revert, _memories(revert), back=True)
    return found


def chain_of(repo: Repo, commit: str) -> list[Entry]:
    """Return the commits that a run's merge added, oldest first, or just the given commit."""
    (tip,) = list(entries(repo, "-1", commit))
    if len(tip.parents) < 2:
        return [tip]
    return list(entries(repo, "--reverse", f"{tip.parents[0]}..{tip.parents[1]}"))


_WRITTEN_COMMIT = regex(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


_GITS = ('Revert "', 'Reapply "')
"""How the subjects that `git revert` writes begin."""


class Wrote(msgspec.Struct, frozen=True, kw_only=True):
    """A commit with {path: (blob before, blob after)}. The blob of an absent file is empty."""

    commit: str
    blobs: dict[str, tuple[str, str]]
    subject: str = ""

    def undoes(self, other: Wrote) -> bool:
        """Return whether this commit is a `git revert` that exactly cancels another commit."""
        back = {path: (new, old) for path, (old, new) in other.blobs.items()}
        return self.subject.startswith(_GITS) and self.blobs == back


def writes(repo: Repo, base: str, head: str) -> Iterator[Wrote]:
    """Yield the non-merge commits reachable from `head` but not from `base`, oldest first."""
    options = "--reverse --topo-order --no-merges --raw --no-abbrev --no-renames -z".split()
    raw = repo.git.log(*options, "--format=%x00%H%x00%s", f"{base}..{head}", "--")
    words = iter(raw.split("\0"))
    found: Wrote | None = None
    for word in words:
        word = word.strip("\n")
        if word.startswith(":"):
            old, new = word.split(" ")[2:4]
            if found is not None:
                found.blobs[next(words)] = (_blob(old), _blob(new))
        elif _WRITTEN_COMMIT.fullmatch(word):
            if found is not None:
                yield found
            found = Wrote(commit=word, blobs={}, subject=next(words))
    if found is not None:
        yield found


def _blob(text: str) -> str:
    return "" if set(text) == {"0"} else text


_MANIFEST = regex(r"(?:.*/)?(\d{8}T\d{6}Z-[0-9a-f]{8})\.json")
RECORD = "Record what the run read and decided"
"""Subject of a run's last commit, which changes no memory."""
DISCARDS = "Discards"
"""Trailer of a commit that discards a run and leaves only the run's manifest."""
_DISCARDED = ": refused"
"""End of the subject of such commits made before the trailer `Discards` existed."""


class Landing(msgspec.Struct, frozen=True, kw_only=True):
    """An operation in history, with its last commit and the commit it was based on.

    `run` is empty if the operation is not a run. `chain` contains the commits, oldest first, of a
    run without a merge (rebased). A run is in effect while its manifest is in the tree.
    """

    entry: Entry
    before: str
    run: str = ""
    chain: tuple[Entry, ...] = ()
    in_effect: bool = True
    changed: bool = False
    """Whether git replaced memrepo's original commit by another one, for example in a rebase."""

    def steps(self, repo: Repo) -> tuple[Entry, ...]:
        """Return the commits of the operation, oldest first."""
        return self.chain or tuple(chain_of(repo, self.entry.commit))


def commit_landing(entry: Entry) -> Landing:
    """Return an individual commit as an operation."""
    return Landing(entry=entry, before=next(iter(entry.parents), ""))


def run_of(path: str) -> str:
    """Return the id of the run whose manifest has this path, or "" for other files."""
    found = _MANIFEST.fullmatch(path)
    return found[1] if found else ""


def landings(repo: Repo, head: str, layout: Layout, paths: Iterable[str]) -> list[Landing]:
    """Return the runs that landed in a head's history, newest first."""
    area = layout.area("runs")
    here = {run: path for path in paths if path.startswith(area) and (run := run_of(path))}
    found = [
        Landing(entry=e, before=e.parents[0], run=e.run, in_effect=e.run in here)
        for e in runs(repo, head)
    ]
    known = {landing.run for landing in found}
    others = _others(repo, head, {path: run for run, path in here.items() if run not in known})
    if not others:
        return found
    found += others
    wanted = {landing.entry.commit for landing in found}
    order = repo.git.rev_list("--topo-order", head).split()
    place = {commit: n for n, commit in enumerate(order) if commit in wanted}
    return sorted(found, key=lambda landing: place.get(landing.entry.commit, len(order)))


def gone(repo: Repo, head: str, layout: Layout, word: str) -> list[Landing]:
    """Return runs without merges whose manifests were removed. `word` is a run id or its prefix."""
    area = layout.area("runs")
    if not word or not word[:8].isdigit():
        return []
    pattern = f":(glob){area}*/{word}*.json"
    paths = {p: run_of(p) for _, ps in touching(repo, head, [pattern]) for p in ps}
    others = _others(repo, head, {path: run for path, run in paths.items() if run})
    return [replace(landing, in_effect=False) for landing in others]


def removals(repo: Repo, head: str, layout: Layout) -> list[tuple[Entry, tuple[str, ...]]]:
    """Return (commit, removed paths) for the commits that removed manifests, newest first.

    Their parents are taken from the simplified history of manifests.
    """
    return touching(repo, head, [layout.area("runs")], "--diff-filter=D")


def _others(repo: Repo, head: str, runs: Mapping[str, str]) -> list[Landing]:
    """Return the landings of runs that have no merge, found by their manifests."""
    found: dict[str, Landing] = {}
    adding = touching(repo, head, [*runs], "--diff-filter=A") if runs else ()
    for entry, paths in adding:
        for run in {runs[path] for path in paths if path in runs} - found.keys():
            landing = _landed(repo, head, entry, run)
            if landing is not None:
                found[run] = landing
    return [*found.values()]


def _landed(repo: Repo, head: str, entry: Entry, run: str) -> Landing | None:
    """Return the operation that added a run's manifest, or None if that was not a run."""
    if entry.trailer("Op") not in ("", "run") or entry.trailer(DISCARDS):
        return None
    if entry.subject.endswith(f"{run}{_DISCARDED}"):
        return None
    entry = next(entries(repo, "-1", entry.commit))  # read again, to get the real parents
    if not entry.parents:
        return None
    chain, before = [entry], entry.parents[0]
    for older in entries(repo, "--first-parent", before):
        if older.run != run or not older.parents:
            break
        chain.append(older)
        before = older.parents[0]
    merge = _merged(repo, head, entry.commit, before)
    if merge is not None:
        return Landing(entry=_as_run(merge, run), before=before, run=run, changed=True)
    chain[0] = _as_run(entry, run)
    steps = tuple(reversed(chain))
    return Landing(entry=chain[0], before=before, run=run, chain=steps, changed=True)


def _merged(repo: Repo, head: str, tip: str, before: str) -> Entry | None:
    """Return the commit that merged a chain into its base, or None if there is none."""
    merges = entries(repo, "--merges", "--ancestry-path", f"{tip}..{head}")
    return next((e for e in merges if e.parents == (before, tip)), None)


def _as_run(entry: Entry, run: str) -> Entry:
    """Return a copy of a commit with the run trailers that git dropped."""
    return replace(entry, trailers={**entry.trailers, "Run": (run,), "Op": ("run",)})


def newest(found: Collection[Landing]) -> Landing | None:
    """Return the newest landing in effect, or None. The given landings must be newest first."""
    return next((landing for landing in found if landing.in_effect), None)
