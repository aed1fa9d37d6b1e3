"""Secrets in commits: those that are about to be pushed, and all there are (`check --history`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from memrepo.actions.check.checking import opened_git
from memrepo.actions.check.scanning import scanned
from memrepo.actions.work import Answer, Work
from memrepo.checks.messages import message_problems
from memrepo.checks.secrets import secret_problems
from memrepo.core.errors import Exit
from memrepo.core.problems import Problem
from memrepo.store.around import grounds
from memrepo.store.light import Git, introduced, messages


def pushed(work: Work, given: Sequence[str]) -> Answer:
    """Answer 1 where a commit that the remote does not have yet holds a secret.

    `given` is what git gives the hook: the remote's name and address; the refs come on stdin.
    """
    remote = given[0] if given else ""
    with opened_git(work.call.where) as git:
        found: list[Problem] = []
        for line in work.call.read().splitlines():
            words = line.split(" ")
            if len(words) != 4 or not words[1].strip("0"):
                continue  # no ref, or one that is deleted there
            new, there = words[1], words[3]
            known = [f"^{there}"] if there.strip("0") and _has(git, there) else []
            found += history_problems(git, new, *known, "--not", f"--remotes={remote or '*'}")
    lines = [*map(str, found)]
    if found:
        lines.append("memrepo: nothing was pushed; a secret that others have seen must be changed")
    return Answer(
        data={"problems": [p.as_json() for p in found]},
        text="\n".join(lines),
        exit=Exit.NO if found else Exit.DONE,
    )


def history_problems(git: Git, *revisions: str) -> Iterator[Problem]:
    """Yield each secret that commits brought, in files and messages; the path names the commit."""
    wants = grounds(git).wants(git)
    for commit, path, blob in introduced(git, *revisions):
        data = git.read(blob)
        for problem in (*secret_problems(path, data, wants.allowed_secrets), *scanned(path, data)):
            yield replace(problem, path=f"{commit[:10]}:{problem.path}")
    for commit, text in messages(git, *revisions):
        for problem in message_problems(f"{commit[:10]} (message)", text):
            if problem.rule == "message-secret":
                yield problem


def _has(git: Git, commit: str) -> bool:
    return bool(git.objects.commit(commit))
