"""The hub: fetch from it, push to it, and merge its records and foreign files with ours.

The hub is a named git remote. It is accessed without force and without prompts. Fetched objects go
to refs below `refs/memrepo/remote/<remote>/`. `incoming/<branch>` is the result of the last fetch,
and `seen/<branch>` is the last accepted tip.

Files that memrepo does not own are merged entry by entry. If only one side changed an entry, that
version is used with its mode.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from memrepo.core.patterns import regex
from memrepo.store.errors import GitFailed, StoreError, one_line
from memrepo.store.objects import TreeEntry

if TYPE_CHECKING:
    from memrepo.store.git import Repo

OWN = "refs/memrepo/remote/"
_NAME = regex(r"[A-Za-z0-9_][\w-]*(?:\.[\w-]+)*", re.ASCII)
_HELPER = regex(r"[A-Za-z0-9][A-Za-z0-9+.-]*::")
_RACES = ("lock", "failed to update ref", "already exists", "incorrect old value")
_PAUSE_S = 0.1
_LONGEST_S = 2.0


class Hub(msgspec.Struct, frozen=True):
    """A git remote, and the branch on it that our branch is synced with."""

    repo: Repo
    name: str
    branch: str

    @property
    def head(self) -> str:
        """Return the full name of the synced branch on the hub."""
        return f"refs/heads/{self.branch}"

    def own(self, kind: str) -> str:
        """Return the local ref that tracks the hub's branch. `kind` is `incoming` or `seen`."""
        return f"{OWN}{self.name}/{kind}/{self.branch}"

    @property
    def tracking(self) -> str:
        """Return git's remote-tracking ref for the synced branch."""
        return f"refs/remotes/{self.name}/{self.branch}"

    def seen(self) -> str:
        """Return the last known commit of the hub's branch, or an empty string."""
        return self.tip(self.own("seen")) or self.tip(self.tracking)

    def tip(self, ref: str) -> str:
        """Return the id of the commit at a local ref, or "" if there is no such ref."""
        return self.repo.objects.commit(ref)

    def remember(self, commit: str) -> None:
        """Record the hub's newest branch commit, also in git's remote-tracking ref if present."""
        self.repo.call("update-ref", self.own("seen"), commit)
        if self.tip(self.tracking):
            self.repo.call("update-ref", self.tracking, commit)

    def forget(self, *refs: str) -> None:
        """Delete refs of this clone, and ignore those that do not exist."""
        for ref in refs:
            self.repo.call("update-ref", "-d", ref)

    def tips(self, *refs: str) -> dict[str, str]:
        """Return {ref: id} of the given refs on the hub, without those that do not exist there."""
        found = self._listed(self.name, *refs)
        return {ref: found[ref] for ref in refs if ref in found}

    def every_tip(self) -> dict[str, str]:
        """Return {ref: id} of all refs on the hub. A tag's id is that of its tag object."""
        return self._listed("--refs", self.name)

    def _listed(self, *words: str) -> dict[str, str]:
        lines = self._call("ls-remote", "--quiet", *words).splitlines()
        return {ref: tip for tip, _, ref in (line.partition("\t") for line in lines)}

    def fetch(self, refs: Mapping[str, str]) -> dict[str, str]:
        """Fetch refs of the hub into local refs, and return {hub ref: fetched commit}."""
        there = self.tips(*refs)
        if there:
            options = "--quiet --no-tags --no-write-fetch-head --no-auto-maintenance --no-prune"
            own = ("--no-recurse-submodules", "--refmap=", self.name)
            self._call("fetch", *options.split(), *own, *(f"+{r}:{refs[r]}" for r in there))
        self.forget(*(own for ref, own in refs.items() if ref not in there))
        return {ref: self.tip(refs[ref]) for ref in there}

    def push(self, commit: str, ref: str) -> bool:
        """Push a commit without force. Return False if the hub's ref moved in the meantime."""
        status, out, err = self._push(
            "--no-force", "--no-follow-tags", self.name, f"{commit}:{ref}"
        )
        if status == 0:
            return True
        for line in out.splitlines():
            flag, _, rest = line.partition("\t")
            if flag == "!":
                why = rest.partition("\t")[2]
                if why.startswith("[rejected]") or any(word in why for word in _RACES):
                    return False
                raise self._refusal(ref, why)
        raise StoreError("hub-unreachable", name=self.name, cause=one_line(err))

    def replace(self, ref: str, old: str, new: str) -> bool:
        """Replace a ref's object on the hub after a purge. Return False if the hub's ref moved.

        This is the only push that is not a fast-forward. It names the object to replace and pushes
        nothing else. Raises StoreError.
        """
        status, out, err = self._push(f"--force-with-lease={ref}:{old}", self.name, f"{new}:{ref}")
        if status == 0:
            return True
        text = next((line for line in out.splitlines() if line.startswith("!")), err)
        if "stale info" in text:
            return False
        raise self._refusal(ref, text)

    def _refusal(self, ref: str, text: str) -> StoreError:
        return StoreError(
            "push-checked-out" if "checked out" in text else "push-refused",
            name=self.name,
            ref=ref,
            cause=one_line(text),
        )

    @contextmanager
    def visit(self, *refs: str) -> Iterator[tuple[Callable[..., str], dict[str, str]]]:
        """Fetch refs of the hub into a folder that is deleted at the end, next to no objects here.

        Yield a function that calls git with what was fetched, and {ref: id}.
        """
        import tempfile

        tips = self.tips(*refs) if refs else {}
        ours = str((self.repo.common_dir / "objects").resolve())
        with tempfile.TemporaryDirectory() as folder:
            env = {"GIT_OBJECT_DIRECTORY": folder, "GIT_ALTERNATE_OBJECT_DIRECTORIES": ours}
            if tips:
                options = "--quiet --no-tags --no-write-fetch-head --no-auto-maintenance"
                own = ("--no-recurse-submodules", "--refmap=", self.name)
                self._call("fetch", *options.split(), *own, *tips, env=env)
            yield partial(self.repo.call, env=env), tips

    def _call(self, *words: str, env: Mapping[str, str] | None = None) -> str:
        """Call git against the hub. Raises StoreError if git fails."""
        try:
            return self.repo.call(*words, env={**self._unasked(), **(env or {})})
        except GitFailed as error:
            raise StoreError("hub-unreachable", name=self.name, cause=error.cause) from error

    def _unasked(self) -> dict[str, str]:
        """Return variables with which git asks for no password and no host key."""
        env = {"GIT_TERMINAL_PROMPT": "0"}
        own = os.environ.get("GIT_SSH_COMMAND") or os.environ.get("GIT_SSH")
        if not own and not self.repo.config.get("core.sshCommand"):
            env["GIT_SSH_COMMAND"] = "ssh -oBatchMode=yes -oConnectTimeout=30"
        return env

    def _push(self, *words: str) -> tuple[int, str, str]:
        options = ("--porcelain", "--no-verify", "--recurse-submodules=no", *words)
        setting = ("-c", f"remote.{self.name}.mirror=false")
        try:
            return self.repo.ask(*setting, "push", *options, env=self._unasked())
        except GitFailed as error:
            raise StoreError("hub-unreachable", name=self.name, cause=error.cause) from error


def hub_of(repo: Repo, word: str, branch: str) -> Hub:
    """Return the hub of a branch: the named remote, else the branch's upstream, else `origin`.

    Raises StoreError. `word` must be a remote's name, not an address. Addresses that
    start a program are refused.
    """
    names = repo.call("remote").splitlines()
    short = branch.removeprefix("refs/heads/")
    upstream = repo.config.get(f"branch.{short}.remote")
    if not word and not names:
        raise StoreError("remote-none")
    name = word or (upstream if upstream in names else "origin")
    if name not in names:
        raise _unknown_remote(name, names)
    if not _NAME.fullmatch(name) or name.endswith(".lock"):
        raise StoreError("remote-name", name=name)
    for kind in ("--all", "--push"):
        for url in repo.call("remote", "get-url", kind, name).splitlines():
            if _HELPER.match(url):
                raise StoreError("remote-helper", name=name, helper=url.partition("::")[0])
    merged = repo.config.get(f"branch.{short}.merge") if name == upstream else ""
    return Hub(repo, name, merged.removeprefix("refs/heads/") or short)


def _unknown_remote(name: str, names: list[str]) -> StoreError:
    known = f"; known remotes: {', '.join(names)}" if names else ""
    if re.search(r"[:/\\]", name):
        return StoreError("remote-address", name=one_line(name), known=known)
    return StoreError("remote-unknown", name=name, known=known)


def pause(commit: str, turn: int) -> None:
    """Wait before a retry. The wait grows with each attempt and differs between clones."""
    share = 1 + int(commit[:2], 16) / 0xFF
    time.sleep(min(_PAUSE_S * 2 ** (turn - 1) * share, _LONGEST_S))


class TreeMerge(msgspec.Struct, frozen=True, kw_only=True):
    """A merge of two trees by git, relative to the first tree.

    `picks` are the merged entries that differ, None if removed. `open` has the paths that git
    cannot merge, with their versions: in the merge base, in the first and in the second tree.
    """

    picks: Mapping[str, TreeEntry | None]
    open: Mapping[str, tuple[TreeEntry | None, ...]]


def merge_trees(repo: Repo, bases: Sequence[str], first: str, second: str) -> TreeMerge:
    """Merge two commits with git in a separate index. Renames are not followed."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        index = {"GIT_INDEX_FILE": f"{folder}/index"}
        repo.call("read-tree", "-i", "-m", "--aggressive", *bases, first, second, env=index)
        unmerged = repo.call("ls-files", "--unmerged", "-z", env=index)
        words = ("diff-index", "--cached", "--no-renames", "--raw", "-z", first, "--")
        changed = repo.call(*words, env=index).split("\0")
    open_: dict[str, list[TreeEntry | None]] = {}
    for row in unmerged.split("\0")[:-1]:
        head, path = row.split("\t", 1)
        mode, blob, stage = head.split(" ")
        open_.setdefault(path, [None, None, None])[int(stage) - 1] = TreeEntry(mode, blob)
    picks: dict[str, TreeEntry | None] = {}
    for row, path in zip(changed[0::2], changed[1::2], strict=False):
        _, mode, _, blob, _ = row.split(" ")
        if path not in open_:
            picks[path] = TreeEntry(mode, blob) if blob.strip("0") else None
    return TreeMerge(picks=picks, open={path: tuple(row) for path, row in open_.items()})


def count(repo: Repo, tip: str, *without: str) -> int:
    """Count the commits reachable from `tip` but not from the other commits."""
    return int(repo.call("rev-list", "--count", tip, *(f"^{one}" for one in without if one)))
