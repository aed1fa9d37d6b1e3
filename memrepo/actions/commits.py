"""`memrepo check A..B`: check a range of commits, as a forge does before a merge.

The changes from the merge base to the tip are checked as one change against all rules about the
content of files. The `derived` rules protect files that only memrepo writes. They are checked only
for commits by hand, because a run on the branch may change these files. Secrets are searched in
every commit and message, because a forge also stores those that a later commit removed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from msgspec.structs import replace

from memrepo import checks
from memrepo.actions import scenes
from memrepo.actions.landing import missing_pages
from memrepo.actions.run.ingest import INBOX
from memrepo.actions.scenes import CheckResult
from memrepo.actions.work import Work, purge_notices
from memrepo.checks import secret_problems
from memrepo.checks.rules import GROUPS, Group, Scene, Wants, message_problems
from memrepo.config import ConfigError, parse_config
from memrepo.core import errors
from memrepo.core.errors import MemrepoError, Problem, UsageError
from memrepo.core.layout import Layout
from memrepo.core.manifest import Manifest, read_manifest
from memrepo.merge import states
from memrepo.store import history, settings
from memrepo.store.database import NAME, damage_of
from memrepo.store.git import Git, opened
from memrepo.store.history import (
    GIT_REVERTS,
    changes,
    commit_messages,
    hand_commits,
    introduced,
    landings,
)
from memrepo.store.run_files import Ledger
from memrepo.store.tree import Snapshot


def find_committed_secrets(work: Work) -> tuple[Problem, ...]:
    """Return the secrets in all commits that any ref reaches."""
    with scenes.opened_git(work.call.where) as git:
        return tuple(_secrets_by_commit(git, "--all"))


def pushed(work: Work, given: Sequence[str]) -> tuple[Problem, ...]:
    """Return the secrets in commits that the remote does not have yet, and what a purge replaced.

    `given` has the arguments of the pre-push hook: the remote's name and URL. The refs come on
    stdin.
    """
    remote = given[0] if given else ""
    with opened(work.call.where) as git:
        found: list[Problem] = []
        if old := history.purged_elsewhere(git):
            found.append(errors.problem("purged-elsewhere", "HEAD", commit=old[:10]))
        for line in work.call.read().splitlines():
            words = line.split(" ")
            if len(words) != 4 or not words[1].strip("0"):
                continue  # not a ref, or a deleted one
            new, there = words[1], words[3]
            known = [f"^{there}"] if there.strip("0") and git.objects.commit(there) else []
            found += _secrets_by_commit(git, new, *known, "--not", f"--remotes={remote or '*'}")
    return tuple(found)


def _secrets_by_commit(git: Git, *revisions: str) -> Iterator[Problem]:
    """Yield a problem for each secret that commits added, with the commit in the problem's path."""
    for commit, problem in brought(git, *revisions):
        where = f"{commit[:10]}:{problem.path}" if problem.path else f"{commit[:10]} (message)"
        yield replace(problem, path=where)


def brought(git: Git, *revisions: str) -> Iterator[tuple[str, Problem]]:
    """Yield (commit, problem) for each added secret. The path is empty if a message contains it."""
    for commit, path, blob in introduced(git, *revisions):
        data = git.read(blob)
        for problem in secret_problems(path, data):
            yield commit, problem
    for commit, text in commit_messages(git, *revisions):
        for problem in message_problems("", text):
            if problem.rule == "message-secret":
                yield commit, problem


def is_range(word: str) -> bool:
    """Return whether a word is a range (`A..B`, `A..`) and not a path (`../x`, `a/../b`)."""
    first, dots, rest = word.partition("..")
    return bool(dots and first) and not first.endswith("/") and not rest.startswith("/")


def check_range(work: Work, word: str) -> CheckResult:
    """Check the changes in a range of commits against the rules."""
    store = work.store
    base, tip = _ends(work, word)
    tree = store.snapshot(tip)
    state, git = tree.state(), store.repo
    differing = list(git.objects.differences(base, tip))
    owned = [d for d in differing if tree.layout.owns(d[0]) or tree.layout.owns(d[0] + "/")]
    entries = [(path, new.mode, new.id) for path, _, new in owned if new.id]
    files, early = scenes.taken(git, tree.layout, entries)
    scene = Scene(
        files=files,
        layout=tree.layout,
        gone=tuple(path for path, _, new in owned if not new.id),
        around=tree.files,
        before={p: git.read(old.id) for p, old, _ in owned if old.mode.startswith("100")},
        wants=_wants(tree),
    )
    found = list(early)
    found += [
        replace(problem, severity="error")
        for problem in (*state.problems, *states.closure(state))
        if problem.path in files and problem.rule == "memory-same-id"
    ]
    found += checks.find_problems(scene, [group for group in GROUPS if group != "derived"])
    if tree.layout.config in files:
        found += _config(tree.layout.config, files[tree.layout.config])
    found += _by_hand(work, tree, scene, f"{base}..{tip}" if base else tip)
    found += _secrets(work, tree.layout, files, base, tip)
    span = (tip, f"^{base}") if base else (tip,)
    return scenes.result_of(
        sorted(dict.fromkeys(found), key=lambda p: (p.path, p.line, p.column)),
        files=len(files) + len(scene.gone),
        range=word,
        commits=int(store.repo.call("rev-list", "--count", *span)),
    )


def _wants(tree: Snapshot) -> Wants:
    return scenes.configured(tree.layout, tree.files.get(tree.layout.config, b""))


def _ends(work: Work, word: str) -> tuple[str, str]:
    """Return the merge base and tip of a range of commits. The base is "" if there is none."""
    first, _, rest = word.partition("..")
    names = (first, rest.removeprefix(".") or "HEAD")
    commits = [work.store.resolve(name) for name in names]
    for name, commit in zip(names, commits, strict=True):
        if not commit:
            raise UsageError(
                f"memrepo check: {word}: found no commit {name!r}",
                fix="fetch it first; a forge's checkout may have the newest commit only",
            )
    bases = work.store.common_ancestors(commits)
    if not bases and (work.store.folder.parent / "shallow").exists():
        raise UsageError(
            f"memrepo check: {word}: this clone is shallow and lacks the merge base",
            fix="git fetch --unshallow, or a checkout of the whole history (fetch-depth: 0)",
        )
    return (bases[0] if bases else ""), commits[1]


def _config(path: str, data: bytes) -> Iterator[Problem]:
    """Yield a problem if the configuration is unreadable, because every write would then fail."""
    try:
        parse_config(data.decode("utf-8"))
    except UnicodeDecodeError:
        message, line = "found a byte that is not UTF-8", 0
    except ConfigError as error:
        message, line = error.message, error.line
    else:
        return
    fix = "`memrepo config KEY` says what a key may be"
    yield Problem(path=path, line=line, rule="config-unreadable", message=message, fix=fix)


def _by_hand(work: Work, tree: Snapshot, whole: Scene, revisions: str) -> Iterator[Problem]:
    """Yield problems of manual edits to files that only memrepo writes, if the tip contains them.

    A commit that contains a run is not by hand, even if git squashed, amended or rebased it. If all
    commits are by hand, check the range as one change, including its merges.
    """
    repo = work.store.repo
    made = {run.commit for run in landings(repo, tree.commit, tree.layout, tree.blobs)}
    hands = [hand.commit for hand in hand_commits(repo, revisions) if hand.commit not in made]
    if len(hands) == int(repo.call("rev-list", "--count", "--no-merges", revisions)):
        yield from checks.find_problems(whole, ["derived"])
        return
    for _, problem in problems_of(repo, tree, hands, ["derived"]):
        yield problem


_UNHOOKED: tuple[Group, ...] = ("schema", "tags", "secrets", "derived", "size")
"""The rules that `status` and `run` check. References and the order of keys are for `check`."""


def errors_since(work: Work, commit: str) -> tuple[Problem, ...]:
    """Return the errors in commits by hand since another commit that are still in the tree."""
    git = work.store.repo
    walk = hand_commits(git, f"{commit}..{work.tree.commit}")
    # `git revert` of a run takes its manifest away, as a revert by memrepo does.
    hands = [hand.commit for hand in walk if not hand.subject.startswith(GIT_REVERTS)]
    if not hands:
        return ()  # without reading the memories
    known = {(p.path, p.rule) for p in work.tree.state().problems}  # reported for the tree itself
    return tuple(
        replace(p, severity="warning", message=f"{p.message} (commit {commit[:10]})")
        for commit, p in problems_of(git, work.tree, hands, _UNHOOKED)
        if p.severity == "error" and (p.path, p.rule) not in known
    )


def problems_of(
    git: Git, tree: Snapshot, commits: Sequence[str], groups: Sequence[Group]
) -> Iterator[tuple[str, Problem]]:
    """Yield (commit, problem) for each problem of the commits that a given tree still contains."""
    wants = _wants(tree)
    found: dict[str, list[tuple[str, str, str]]] = {}
    for commit, path, old, new in changes(git, commits):
        if tree.layout.owns(path):
            found.setdefault(commit, []).append((path, old, new))
    for commit, changed in found.items():
        scene = Scene(
            files={path: git.read(new) for path, _, new in changed if new},
            layout=tree.layout,
            gone=tuple(path for path, _, new in changed if not new),
            around=tree.files,
            before={path: git.read(old) for path, old, _ in changed if old},
            wants=wants,
        )
        present = {path for path, _, new in changed if tree.blobs.get(path, "") == new}
        for problem in checks.find_problems(scene, groups):
            if problem.path in present:
                yield commit, problem


def _secrets(
    work: Work, layout: Layout, files: Collection[str], base: str, tip: str
) -> Iterator[Problem]:
    """Yield the secrets in each commit and message, except those already found at the tip."""
    objects = work.store.repo.objects
    for commit, problem in brought(work.store.repo, tip, *([f"^{base}"] if base else [])):
        if not problem.path:
            message = f"{problem.message} (the message of commit {commit[:10]})"
            yield replace(problem, path=layout.config, line=0, column=0, message=message)
        elif problem.path not in files or objects.at(commit, problem.path) != objects.at(
            tip, problem.path
        ):
            yield replace(problem, message=f"{problem.message} (commit {commit[:10]})")


# -- damage that no rule about one file sees; `check` and `doctor` both report it ---------------


def find_damage(work: Work) -> tuple[Problem, ...]:
    """Return the damage at HEAD and in this clone."""
    found = [*_find_replaced_objects(work), *_find_filters(work), *purge_notices(work)]
    try:
        found += [*_find_lost_files(work), *_find_edits_by_hand(work)]
    except MemrepoError as error:
        found.append(errors.problem("unreadable-history", work.tree.commit, cause=error.message))
    try:
        Ledger(work.store).accesses()
    except MemrepoError as error:
        found.append(errors.problem("ledger-damaged", ".git/memrepo", cause=error.message))
    if cause := damage_of(work.store.folder / NAME):
        found.append(errors.problem("index-damaged", ".git/memrepo", cause=cause))
    return tuple(found)


def _find_replaced_objects(work: Work) -> Iterator[Problem]:
    """Yield objects for which `git replace` shows other content than their ids say."""
    for ref in work.store.repo.refs_below("refs/replace/"):
        yield errors.problem("object-replaced", ref, object=ref.rpartition("/")[2])


def _find_filters(work: Work) -> Iterator[Problem]:
    """Yield a problem if a git filter such as LFS rewrites the content of memories."""
    area, repo = work.tree.layout.area("memories"), work.store.repo
    answer = repo.call("check-attr", "filter", "--", area + "notes/any.md")
    value = answer.rpartition(": ")[2].strip()
    if value not in ("unset", "unspecified", ""):
        folders = ("", area, area + "notes/")  # of two files that set it, the lower one counts
        named = {path: work.store.work.read(path) or b"" for path in map(_ATTRIBUTES, folders)}
        own = b"filter=" + value.encode()
        path = next((p for p in reversed(named) if own in named[p]), ".git/info/attributes")
        yield errors.problem("git-filter", path, filter=value, file=path)


_ATTRIBUTES = "{}.gitattributes".format


def _find_lost_files(work: Work) -> Iterator[Problem]:
    """Yield records of runs and pages that are committed and gone from the work tree."""
    area = work.tree.layout.area("runs")
    for path in work.store.work.missing(work.tree.files.below(area)):
        yield errors.problem("record-lost", path, fix=f"`git restore {path}`")
    for path in missing_pages(work):
        yield errors.problem("page-lost", path)


def _find_edits_by_hand(work: Work) -> Iterator[Problem]:
    """Yield what was done by hand to records of runs and to copies of the workspace."""
    layout, blobs = work.tree.layout, work.tree.blobs
    records, sources = layout.area("runs"), layout.area("sources")
    is_copy = settings.workspace(work.store.repo) not in (None, work.store.root)
    areas = (records, sources) if is_copy else (records,)
    for path in work.store.work.dirty():
        is_kept = path in blobs and work.store.work.read(path) is not None
        if is_kept and path.startswith(areas) and not path.startswith(sources + INBOX):
            yield _forged(path, records, "an uncommitted edit", f"`git restore -SW {path}`")
    latest: dict[str, history.LogEntry] = {}
    for entry in history.commits_with_files(
        work.store.repo, "--no-merges", work.tree.commit, "--", *areas
    ):
        of_run = _of_new_runs(work, entry, records)
        for file in entry.files:
            path, commit = file.path, entry.commit[:10]
            if latest.setdefault(path, entry) is not entry or entry.trailer("Op") or path in of_run:
                continue
            if path.startswith(records) and path.endswith(".json") and not file.new:
                if not entry.subject.startswith(GIT_REVERTS):  # these take the memories too
                    fix = f"`git restore -s {commit}^ -SW {path}`, then commit"
                    yield errors.problem("record-lost", path, fix=fix)
            elif blobs.get(path) == file.new and not path.startswith(sources + INBOX):
                yield _forged(path, records, f"commit {commit}", f"`git revert {commit}`")


def _of_new_runs(work: Work, entry: history.LogEntry, records: str) -> set[str]:
    """Return the records of runs that a commit adds, as a squash does, and the copies they list.

    A copy that differs from the one that its run read is none of these.
    """
    found, blobs = set[str](), work.tree.blobs
    for path in (f.path for f in entry.files if f.path.startswith(records) and not f.old):
        manifest = read_manifest(path, work.tree.files.get(path, b""))
        if isinstance(manifest, Manifest):
            read = {one.resource for one in manifest.consumed if one.to == blobs.get(one.resource)}
            found |= {path, *read}
    return found


def _forged(path: str, records: str, who: str, fix: str) -> Problem:
    """Return the problem of a file that only a run writes, and that somebody else wrote."""
    if path.startswith(records):
        return errors.problem("record-forged", path, who=who, fix=fix)
    return errors.problem("source-forged", path, who=who, fix=fix)
