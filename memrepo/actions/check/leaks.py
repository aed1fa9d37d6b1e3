"""Secrets in commits: those of a push, and all there are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from memrepo.actions.check import scenes
from memrepo.actions.check.check import Past
from memrepo.actions.work import Work
from memrepo.checks.messages import message_problems
from memrepo.checks.secrets import secret_problems
from memrepo.core.errors import Exit
from memrepo.core.problems import Problem
from memrepo.store.light import Git, introduced, messages


def past(work: Work) -> Past:
    """Answer 1 where a commit that a ref leads to brought a secret."""
    with scenes.opened_git(work.call.where) as git:
        found = tuple(_told(git, "--all"))
    return Past(problems=found, exit=Exit.NO if found else Exit.DONE)


def pushed(work: Work, given: Sequence[str]) -> tuple[Problem, ...]:
    """Return the secrets in commits that the remote does not have yet.

    `given` is what git gives the hook: the remote's name and address; the refs come on stdin.
    """
    remote = given[0] if given else ""
    with scenes.opened_git(work.call.where) as git:
        found: list[Problem] = []
        for line in work.call.read().splitlines():
            words = line.split(" ")
            if len(words) != 4 or not words[1].strip("0"):
                continue  # no ref, or one that is deleted there
            new, there = words[1], words[3]
            known = [f"^{there}"] if there.strip("0") and git.objects.commit(there) else []
            found += _told(git, new, *known, "--not", f"--remotes={remote or '*'}")
    return tuple(found)


def _told(git: Git, *revisions: str) -> Iterator[Problem]:
    """Yield each secret that commits brought; its path names the commit."""
    for commit, problem in brought(git, *revisions):
        where = f"{commit[:10]}:{problem.path}" if problem.path else f"{commit[:10]} (message)"
        yield replace(problem, path=where)


def brought(git: Git, *revisions: str) -> Iterator[tuple[str, Problem]]:
    """Yield each secret with the commit that brought it; one in a message has no path."""
    for commit, path, blob in introduced(git, *revisions):
        data = git.read(blob)
        for problem in secret_problems(path, data):
            yield commit, problem
    for commit, text in messages(git, *revisions):
        for problem in message_problems("", text):
            if problem.rule == "message-secret":
                yield commit, problem
