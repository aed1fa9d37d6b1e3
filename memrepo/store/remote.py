"""The hub: a remote that git knows by name, asked and written without force and without a prompt.

What is fetched goes into refs of memrepo's own below `refs/memrepo/remote/<remote>/`:
`incoming/<branch>` is what the last fetch brought, `seen/<branch>` the last tip that was taken for
good, `access` the ledger of accesses.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

import msgspec

from memrepo.core.errors import Exit, MemrepoError
from memrepo.core.patterns import regex
from memrepo.store.gitenv import told
from memrepo.store.light import GitFailed

if TYPE_CHECKING:
    from memrepo.store.door import Door
    from memrepo.store.gitenv import Repo

OWN = "refs/memrepo/remote/"
_NAME = regex(r"[A-Za-z0-9_][\w-]*(?:\.[\w-]+)*", re.ASCII)
_HELPER = regex(r"[A-Za-z0-9][A-Za-z0-9+.-]*::")
_RACES = ("lock", "failed to update ref", "already exists", "incorrect old value")
_PAUSE_S = 0.1
_LONGEST_S = 2.0


class NoRemote(MemrepoError):
    """There is no remote to sync with, or none of the name that was given."""

    exit_code = Exit.USAGE

    def __init__(self, message: str) -> None:
        super().__init__(
            message, fix="`git remote add origin <address of the hub>` names one, then sync with it"
        )


class UnfitRemote(MemrepoError):
    """The remote's name or address is one that sync does not use."""

    exit_code = Exit.USAGE


class HubUnreachable(MemrepoError):
    """Git could not talk to the hub."""

    def __init__(self, name: str, said: str) -> None:
        super().__init__(
            f"{name} could not be reached: {said}",
            fix=f"`git ls-remote {name}` must answer without asking for anything "
            "(a key agent or a credential helper holds what it needs)",
        )


class PushRefused(MemrepoError):
    """The hub did not take what was pushed, for a reason of its own."""

    def __init__(self, name: str, ref: str, said: str) -> None:
        bare = "make the hub a bare repository (`git init --bare`)"
        super().__init__(
            f"{name} refuses {ref}: {said}",
            fix=bare if "checked out" in said else "ask who runs the hub for the right to push",
        )
        self.said = said


class Hub(msgspec.Struct, frozen=True):
    """A remote by its name, and the branch there that ours is synced with."""

    repo: Repo
    name: str
    branch: str

    @property
    def head(self) -> str:
        """Return the full name of the branch on the hub."""
        return f"refs/heads/{self.branch}"

    def own(self, kind: str) -> str:
        """Return the ref of ours for the branch: `incoming` or `seen`."""
        return f"{OWN}{self.name}/{kind}/{self.branch}"

    def copy_of(self, ref: str) -> str:
        """Return the ref of ours that holds what the hub has under one of memrepo's."""
        return f"{OWN}{self.name}/{ref.rpartition('/')[2]}"

    @property
    def tracking(self) -> str:
        """Return git's own ref for what the hub's branch held when it was last asked."""
        return f"refs/remotes/{self.name}/{self.branch}"

    def seen(self) -> str:
        """Return the last tip that this clone knows of the hub, or an empty string."""
        return self.tip(self.own("seen")) or self.tip(self.tracking)

    def tip(self, ref: str) -> str:
        """Return the commit at a ref of this clone, or an empty string."""
        return self.repo.light.objects.commit(ref)

    def remember(self, commit: str) -> None:
        """Record what the hub's branch holds, also where `git status` looks for it."""
        self.repo.git.update_ref(self.own("seen"), commit)
        if self.tip(self.tracking):
            self.repo.git.update_ref(self.tracking, commit)

    def forget(self, *refs: str) -> None:
        """Delete refs of this clone; one that is not there is no error."""
        for ref in refs:
            self.repo.git.update_ref("-d", ref)

    def tips(self, *refs: str) -> dict[str, str]:
        """Return what the hub has at these refs; those it does not have are left out."""
        found = self._listed(self.name, *refs)
        return {ref: found[ref] for ref in refs if ref in found}

    def every_tip(self) -> dict[str, str]:
        """Return everything that the hub has, by its own names; a tag is its own object."""
        return self._listed("--refs", self.name)

    def _listed(self, *words: str) -> dict[str, str]:
        with self._away() as git:
            lines = str(git.ls_remote("--quiet", *words)).splitlines()
        return {ref: tip for tip, _, ref in (line.partition("\t") for line in lines)}

    def fetch(self, refs: Mapping[str, str]) -> dict[str, str]:
        """Bring refs of the hub into refs of this clone; return what it has now, by its own names.

        A ref that the hub does not have takes ours along.
        """
        there = self.tips(*refs)
        if there:
            options = "--quiet --no-tags --no-write-fetch-head --no-auto-maintenance --no-prune"
            own = ("--no-recurse-submodules", "--refmap=", self.name)
            with self._away() as git:
                git.fetch(*options.split(), *own, *(f"+{ref}:{refs[ref]}" for ref in there))
        self.forget(*(own for ref, own in refs.items() if ref not in there))
        return {ref: self.tip(refs[ref]) for ref in there}

    def push(self, commit: str, ref: str) -> bool:
        """Push a commit, never by force; False when the hub moved meanwhile.

        Raises PushRefused or HubUnreachable.
        """
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
                raise PushRefused(self.name, ref, told(why))
        raise HubUnreachable(self.name, told(err))

    def replace(self, ref: str, old: str, new: str) -> bool:
        """Put an object in place of another one that a purge took away; False where it moved.

        The one push that is no fast-forward: it names what it replaces, and nothing else goes. An
        empty `new` takes the ref away. Raises PushRefused.
        """
        status, out, err = self._push(f"--force-with-lease={ref}:{old}", self.name, f"{new}:{ref}")
        if status == 0:
            return True
        said = next((line for line in out.splitlines() if line.startswith("!")), err)
        if "stale info" in said:
            return False
        raise PushRefused(self.name, ref, told(said))

    @contextmanager
    def _away(self) -> Iterator[Door]:
        """Yield a git that waits for nobody; raises HubUnreachable where it fails.

        No password and no host key is asked for, and a connection that is dead is given up.
        """
        git, env = self.repo.git, {}
        own = os.environ.get("GIT_SSH_COMMAND") or os.environ.get("GIT_SSH")
        if not own and not self.repo.config.get("core.sshCommand"):
            env["GIT_SSH_COMMAND"] = "ssh -oBatchMode=yes -oConnectTimeout=30"
        try:
            with git.custom_environment(GIT_TERMINAL_PROMPT="0", **env):
                yield git
        except GitFailed as error:
            raise HubUnreachable(self.name, error.said) from error

    def _push(self, *words: str) -> tuple[int, str, str]:
        options = ("--porcelain", "--no-verify", "--recurse-submodules=no", *words)
        with self._away() as git:
            done: tuple[int, str, str] = git(c=f"remote.{self.name}.mirror=false").push(
                *options, with_exceptions=False, with_extended_output=True
            )
            return done


def hub_of(repo: Repo, word: str, branch: str) -> Hub:
    """Return the hub of a branch: the remote of that name, the branch's upstream, or `origin`.

    Raises NoRemote or UnfitRemote: an address is no name, and none that starts a program is used.
    """
    names = repo.git.remote().splitlines()
    short = branch.removeprefix("refs/heads/")
    upstream = repo.config.get(f"branch.{short}.remote")
    if not word and not names:
        raise NoRemote("this repository has no remote to sync with")
    name = word or (upstream if upstream in names else "origin")
    if name not in names:
        raise NoRemote(_stranger(name, names))
    if not _NAME.fullmatch(name) or name.endswith(".lock"):
        raise UnfitRemote(
            f"{name}: the name of this remote holds characters that sync does not take",
            fix="`git remote rename` gives it one of letters, digits, dots and hyphens",
        )
    for kind in ("--all", "--push"):
        for url in repo.git.remote("get-url", kind, name).splitlines():
            if _HELPER.match(url):
                raise UnfitRemote(
                    f"{name}: its address starts a program ({url.partition('::')[0]}::)",
                    fix="give it a path, or an address of ssh, https or git",
                )
    merged = repo.config.get(f"branch.{short}.merge") if name == upstream else ""
    return Hub(repo, name, merged.removeprefix("refs/heads/") or short)


def _stranger(name: str, names: list[str]) -> str:
    known = f"; known are {', '.join(names)}" if names else ""
    if re.search(r"[:/\\]", name):
        return f"{told(name)} is an address or a path, expected the name of a remote{known}"
    return f"{name!r} is not the name of a remote of this repository{known}"


def pause(commit: str, turn: int) -> None:
    """Wait a little before trying again: longer each time, and not as long as other clones do."""
    share = 1 + int(commit[:2], 16) / 0xFF
    time.sleep(min(_PAUSE_S * 2 ** (turn - 1) * share, _LONGEST_S))
