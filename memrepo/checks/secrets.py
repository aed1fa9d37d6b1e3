"""Rules about secrets, and statements that a person rejected.

A line with `memrepo:allow-secret` (or detect-secrets' `pragma: allowlist secret`) is skipped, and
so is a secret whose fingerprint is in the repository's baseline. This applies to checks only.
Secrets are always redacted in text that is ingested or sent to a model.
"""

from __future__ import annotations

from collections.abc import Iterator

from memrepo.checks.rules import Scene, report
from memrepo.core.problems import Problem
from memrepo.core.secrets import secrets_of


def find(scene: Scene) -> Iterator[Problem]:
    """Check every file for secrets, and every memory for rejected statements."""
    for path, data in sorted(scene.files.items()):
        yield from secret_problems(path, data)
    yield from _rejected(scene)


def secret_problems(path: str, data: bytes) -> Iterator[Problem]:
    """Yield a problem for each secret in a file, except on lines marked as allowed."""
    for secret, _ in secrets_of(path, data):
        yield report(
            "secret-found",
            path,
            f"found a secret ({secret.kind})",
            line=secret.line,
            column=secret.column,
            fix="remove it, and replace it wherever it is used; if it is not a secret, end the line"
            " with <!-- memrepo:allow-secret -->",
        )


def _rejected(scene: Scene) -> Iterator[Problem]:
    if scene.layout is None or scene.merging:
        return  # the next command repairs a manual merge
    around = scene.around.below(scene.layout.area("tombstones"))
    stones = {**around, **scene.in_area("tombstones")}
    if not stones:
        return
    from memrepo.merge.tombstones import read_tombstones

    found = read_tombstones(stones, scene.layout)
    yield from (p for p in found.problems if p.path in scene.files)
    for memory in scene.memories:
        stone = found.bar(memory) if memory.status != "forgotten" else None
        if stone is not None:
            yield report(
                "rejected-value",
                memory.path,
                f"states what {stone.summary}",
                line=1,
                column=1,
                fix=f"remove it; `memrepo reject {stone.key} --undo` if it is right after all",
            )
