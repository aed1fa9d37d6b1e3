"""Rules about secrets, identifying numbers, and statements that a person rejected.

A line with `memrepo:allow-secret` (or detect-secrets' `pragma: allowlist secret`) is skipped, and
so is a secret whose fingerprint is in the repository's baseline. This applies to checks only.
Secrets are always redacted in text that is ingested or sent to a model.
"""

from __future__ import annotations

from collections.abc import Iterator

from memrepo.checks.rules import Scene, body_line, report
from memrepo.core.memory import Memory
from memrepo.core.messages import counted
from memrepo.core.patterns import regex
from memrepo.core.problems import Problem
from memrepo.core.secrets import is_allowed, secrets_of

_IDENTIFYING = {
    ("UUID", "UUIDs"): regex(r"\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b"),
    ("IP address", "IP addresses"): regex(r"(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}(?![\d.])"),
    ("long number", "long numbers"): regex(r"(?<![\w.-])\d{9,19}(?![\w-])"),
    ("hex number", "hex numbers"): regex(r"\b(?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{32,64}\b"),
}


def find(scene: Scene) -> Iterator[Problem]:
    """Check every file for secrets, and every memory for numbers and rejected statements."""
    for path, data in sorted(scene.files.items()):
        yield from secret_problems(path, data)
    for memory in scene.memories:
        yield from _numbers(memory, scene.files[memory.path], scene.around.before(memory.path))
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


def _numbers(memory: Memory, data: bytes, before: bytes | None) -> Iterator[Problem]:
    """Yield a warning for each identifying number that a change adds.

    Existing ones are ignored: there are too many.
    """
    known = before.decode("utf-8", "replace") if before else ""
    allowed = [n for n, line in enumerate(memory.body.split("\n")) if is_allowed(line)]
    for names, pattern in _IDENTIFYING.items():
        places = [
            (memory.body.count("\n", 0, match.start()), match.start())
            for match in pattern.finditer(memory.body)
            if match[0] not in known
        ]
        if places := [place for place in places if place[0] not in allowed]:
            line, at = places[0]
            yield report(
                "number-identifies",
                memory.path,
                f"found {counted(len(places), *names)}",
                line=body_line(data) + line,
                column=at - memory.body.rfind("\n", 0, at),
                fix="remove it if nobody needs it: it may identify a person or a machine",
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
