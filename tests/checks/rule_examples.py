"""For every rule of `check` a file that breaks it, one that keeps it, and what --fix makes of it.

Files are given as they would be committed; `before` is how they were, `around` what else there is.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from msgspec.structs import replace

from memrepo.checks.rules import Scene, Wants
from memrepo.core.layout import Layout

KNOWLEDGE = "memories/knowledge/2026-01"
A, B, C = (f"mem-{digit * 16}" for digit in "abc")
NAME = f"{KNOWLEDGE}/shed-aaaaaa.md"
OTHER = f"{KNOWLEDGE}/gate-bbbbbb.md"
MADE = "created: 2026-01-01T00:00:00Z"
RUN = "20260101T000000Z-0123abcd"
MANIFEST = f"runs/2026-01/{RUN}.json"


def memory(*lines: str, body: str = "The shed is red.", id_: str = A, type_: str = "fact") -> str:
    """Spell a memory file: id, type, more header lines, body."""
    head = [f"id: {id_}", f"type: {type_}", *lines]
    return "\n".join(["---", *head, "---", "", body, ""])


def header(*lines: str) -> dict[str, str]:
    """Spell one memory whose header is exactly these lines."""
    return {NAME: "\n".join(["---", *lines, "---", "", "The shed is red.", ""])}


def one(
    *lines: str, body: str = "The shed is red.", path: str = NAME, **more: str
) -> dict[str, str]:
    """Spell one memory file at its path."""
    return {path: memory(*lines, body=body, **more)}


def two(mine: Collection[str], theirs: Collection[str]) -> dict[str, str]:
    """Spell two memories with some header lines each."""
    return {NAME: memory(*mine), OTHER: memory(*theirs, id_=B, body="The gate is green.")}


@dataclass(frozen=True, kw_only=True)
class Example:
    """A rule's example: contents by path; `fixed` is what --fix makes of `bad`."""

    bad: Mapping[str, str | bytes]
    good: Mapping[str, str | bytes] = field(default_factory=lambda: one())
    fixed: Mapping[str, str] | None = None
    before: Mapping[str, str] = field(default_factory=dict)
    around: Mapping[str, str] = field(default_factory=dict)
    gone: tuple[str, ...] = ()
    wants: Wants = field(default_factory=Wants)


def scene(example: Example, files: Mapping[str, str | bytes]) -> Scene:
    """Return the scene of an example's files."""
    return Scene(
        files=raw(files),
        layout=Layout(),
        gone=example.gone,
        wants=example.wants,
        around=raw(example.around),
        before=raw(example.before),
    )


def raw(files: Mapping[str, str | bytes]) -> dict[str, bytes]:
    """Return contents as bytes."""
    return {p: d if isinstance(d, bytes) else d.encode() for p, d in files.items()}


TOMB = "\n".join(
    [
        "---",
        "key: ts-0123456789abcdef",
        "state: active",
        "text: tx-" + "0" * 32,
        f"memory: {A}",
        "by: human:person@example.org",
        "at: 2026-01-02T00:00:00Z",
        "---",
        "",
        "Rejected.",
        "",
    ]
)
STONE = "tombstones/ts-0123456789abcdef.md"
HOT = "hot: {since: 2026-01-01T00:00:00Z, reason: critical}"
TIDY = Wants(tags=("kitchen", "project/*"))

EXAMPLES: Mapping[str, Example] = {
    # Whether a file is read at all.
    "file-too-large": Example(bad=one(body="x" * (1 << 20))),
    "file-not-utf8": Example(bad={NAME: memory().encode() + b"\xff"}),
    "file-nul": Example(bad={NAME: memory(body="a\0b")}),
    "file-conflict": Example(bad=one(body="<<<<<<< a\nRed.\n=======\nGreen.\n>>>>>>> b")),
    "file-lfs-pointer": Example(bad={NAME: "version https://git-lfs.github.com/spec/v1\n"}),
    "frontmatter-missing": Example(bad={NAME: "The shed is red.\n"}),
    "frontmatter-unclosed": Example(bad={NAME: "---\ntype: fact\n\nThe shed is red.\n"}),
    "frontmatter-syntax": Example(bad=one('title: "open')),
    "frontmatter-not-mapping": Example(bad=header("- type", "- fact")),
    "frontmatter-second-header": Example(bad=one(body="---\ntype: note\n---\n\nText.")),
    "frontmatter-duplicate-key": Example(bad=one("title: a", "title: b")),
    "frontmatter-anchor": Example(bad=one("mine: [&a [b], *a]")),
    "frontmatter-value": Example(bad=one("confidence: high"), good=one("confidence: 0.5")),
    "frontmatter-missing-type": Example(bad=header(f"id: {A}")),
    "frontmatter-near-key": Example(bad=one("confidnce: 0.5")),
    # What a memory is.
    "memory-no-id": Example(
        bad={f"{KNOWLEDGE}/shed.md": "---\ntype: fact\n---\n\nThe shed is red.\n"},
        fixed={
            f"{KNOWLEDGE}/shed-76f34a.md": "---\nid: mem-76f34a35c47dea45\ntype: fact\n"
            "created: 2026-03-01T09:00:00Z\norigin: manual\n---\n\nThe shed is red.\n"
        },
    ),
    "memory-same-id": Example(
        bad=one(), around={f"{KNOWLEDGE}/barn-aaaaaa.md": memory()}, good=one(path=OTHER, id_=B)
    ),
    "memory-file-name": Example(
        bad=one("created: 2026-01-01T00:00:00Z", path=f"{KNOWLEDGE}/shed-bbbbbb.md"),
        good=one(path=f"{KNOWLEDGE}/The shed.md"),
        fixed=one("created: 2026-01-01T00:00:00Z", path=f"{KNOWLEDGE}/shed-bbbbbb-aaaaaa.md"),
    ),
    "memory-layer": Example(bad=one(path="memories/notes/2026-01/01/shed-aaaaaa.md")),
    "memory-decay-class": Example(
        bad=one("decay: {class: forever}"), good=one("decay: {class: permanent}")
    ),
    "path-collision": Example(
        bad=one(), around={NAME.replace("shed", "Shed"): "x"}, good=one(path=OTHER, id_=B)
    ),
    "tag-unknown": Example(
        bad=one("tags: [Kitchen, kitschen]", "created: 2026-01-01T00:00:00Z"),
        good=one("tags: [kitchen, project/shed]"),
        wants=TIDY,
        fixed=one("tags: [kitchen, kitschen]", "created: 2026-01-01T00:00:00Z"),
    ),
    # What refers to what.
    "reference-lost": Example(
        bad=one(MADE, f"links: [{{target: {C}, type: related}}]"),
        around={OTHER: memory(id_=B)},
        good=one(f"links: [{{target: {B}, type: related}}]"),
        fixed=one(MADE),
    ),
    "supersession-half": Example(
        bad=two((MADE, f"supersedes: [{B}]"), ()),
        good=two((f"supersedes: [{B}]",), ("status: superseded", f"superseded_by: [{A}]")),
        fixed=two((MADE,), ("created: 2026-03-01T09:00:00Z",)),
    ),
    "supersession-status": Example(bad=one("status: superseded", MADE), fixed=one(MADE)),
    "supersession-cycle": Example(
        bad=two(
            ("status: superseded", MADE, f"supersedes: [{B}]", f"superseded_by: [{B}]"),
            ("status: superseded", MADE, f"supersedes: [{A}]", f"superseded_by: [{A}]"),
        ),
        fixed=two(
            ("status: superseded", MADE, f"superseded_by: [{B}]"),
            (MADE, f"supersedes: [{A}]"),
        ),
    ),
    # What must not be there.
    "secret-found": Example(
        bad=one(body="Bot: 123456789:" + "AbCdEfGhIjKlMnOpQrStUvWxYz012345678"),
        good=one(body="password: hunter22x <!-- memrepo:allow-secret -->"),
    ),
    "rejected-value": Example(
        bad=one(), good=one(path=OTHER, id_=B), around={"tombstones/ts-0123456789abcdef.md": TOMB}
    ),
    "tombstone-unreadable": Example(
        bad={"tombstones/ts-0123456789abcdef.md": "x"},
        good={"tombstones/ts-0123456789abcdef.md": TOMB},
    ),
    # How it is written.
    "character-invisible": Example(
        bad=one("created: 2026-01-01T00:00:00Z", body="The\u200b \u202eshed is red."),
        good=one(body="\U0001f468\u200d\U0001f33e, \U0001f3f4\U000e0067\U000e0062\U000e007f"),
        fixed=one("created: 2026-01-01T00:00:00Z"),
    ),
    # What memrepo writes.
    "id-changed": Example(
        bad=one("created: 2026-01-01T00:00:00Z", id_=C, path=NAME),
        before=one("created: 2026-01-01T00:00:00Z"),
        fixed=one("created: 2026-01-01T00:00:00Z"),
        good=one("created: 2026-01-01T00:00:00Z"),
    ),
    "field-by-hand": Example(
        bad=one("created: 2026-01-01T00:00:00Z", "confidence: 0.9", body="It is blue."),
        before=one("created: 2026-01-01T00:00:00Z", "confidence: 0.4"),
        good=one("tags: [mine]", "created: 2026-01-01T00:00:00Z", "confidence: 0.4"),
        fixed=one("created: 2026-01-01T00:00:00Z", "confidence: 0.4", body="It is blue."),
    ),
    "manifest-unreadable": Example(bad={MANIFEST: "["}, good={}),
    "manifest-by-hand": Example(bad={}, good={}, before={MANIFEST: "{}"}, gone=(MANIFEST,)),
}
ELSEWHERE = {
    "file-unreadable": "tests/commands/test_check.py",
    "tree-not-a-file": "tests/commands/test_check.py",
    "tree-name-not-utf8": "tests/commands/test_check.py",
    "hot-edited": "tests/checks/test_derived.py",
    "page-edited": "tests/checks/test_derived.py",
    "hot-stale": "tests/seeds/test_seed_002.py",
    "message-trailer": "tests/commands/test_hooks_installed.py",
    "message-secret": "tests/commands/test_hooks_installed.py",
}
"""Rules that need a file system, or a page that a run wrote, and where they are tested."""
NO_GOOD = {"manifest-by-hand"}
"""Rules about what is deleted: nothing deleted is the good case."""


def good_scene(name: str) -> Scene:
    """Return the scene of the files that keep a rule."""
    example = EXAMPLES[name]
    made = scene(example, example.good)
    return replace(made, gone=()) if name in NO_GOOD else made
