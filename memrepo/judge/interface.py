"""The interface of every judge: it reads documents and answers with operations.

The records of answers are also the source of the JSON Schemas that models receive. Each operation
is checked by code (`judge.checks`) before it changes a memory. An invalid element of an answer
becomes a `Fault`, so one bad operation never affects the others.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import cache
from typing import Any, Literal

import msgspec

from memrepo.core.judge import OperationName
from memrepo.core.layout import asset
from memrepo.core.memory import ClaimType

Kind = Literal["read", "again", "verify", "shelf"]
MAX_TEXT = 300
"""Maximum characters of a text that a model words."""


class Operation(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One change that a judge proposes, with the lines of the documents on which it rests.

    - `add`: a new memory with `text`
    - `replace`: a new memory that answers the same question as memory `id`, with a newer answer.
      `still` is what remains true of the old one, if anything does
    - `same`: the lines state what memory `id` states; `text` only if the memory has grown
    - `close`: the lines state that memory `id` is over, and nothing takes its place

    `lines` cites places such as `F1:12-14, F2:7`. `as_of` is the day on which the text was true,
    `until` the last day on which it holds.
    """

    op: OperationName
    lines: str
    id: str = ""
    text: str = ""
    type: ClaimType = "fact"
    subject: str = ""
    still: str = ""
    as_of: str = ""
    until: str = ""


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to a question of the kind `read` or `again`."""

    operations: tuple[Operation, ...]


class Assessment(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Whether an operation is right, or else the difference, in the answer about one item."""

    id: str
    stated: bool
    reason: str = ""


class Verification(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to a question of the kind `verify`."""

    assessments: tuple[Assessment, ...]


class Change(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One change to the shelf.

    - `join`: memories `ids` say the same, and `text` of type `type` about `subject`, or about that
      of the first, takes their place
    - `overtake`: the first of `ids` is overtaken by the second
    - `drop`: nobody will need `ids`
    - `retype`: `ids` are of type `type`
    - `rename`: `ids` are about `subject`, which other memories or the owner or agent have as a name
    """

    change: Literal["join", "overtake", "drop", "retype", "rename"]
    ids: tuple[str, ...]
    text: str = ""
    type: ClaimType = "fact"
    subject: str = ""


class Shelf(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to a question of the kind `shelf`. `page` has the ids of the first page."""

    changes: tuple[Change, ...]
    page: tuple[str, ...]


class Fault(msgspec.Struct, frozen=True):
    """An element of an answer that is malformed, with the reason and what was given."""

    reason: str
    given: Mapping[str, Any] = msgspec.field(default_factory=dict)


ANSWERS: Mapping[Kind, tuple[str, type[msgspec.Struct]]] = {
    "read": ("operations", Reading),
    "again": ("operations", Reading),
    "verify": ("assessments", Verification),
    "shelf": ("changes", Shelf),
}
"""The main key of the answer to each kind of question, and the answer's record."""
EXPECTED: Mapping[Kind, int] = {
    "read": 75,
    "again": 75,
    "verify": 20,
    "shelf": 16,
}
"""Typical tokens of the answer to one item."""


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """A question to a model: fixed instructions, and the fenced data.

    `items` is the number of items in the answer, or the expected number for `read`. `room` is the
    maximum tokens of the answer, and 0 leaves the limit to the service. `own` are instructions of
    the repository in place of those that are shipped.
    """

    kind: Kind
    data: str
    items: int
    room: int = 0
    own: str = ""

    @property
    def system(self) -> str:
        """Return the fixed instructions for this kind of question."""
        return self.own or instructions(self.kind)

    @property
    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema of the answer."""
        return schema_of(self.kind)

    @property
    def spelled(self) -> str:
        """Return the JSON Schema of the answer as text."""
        return json.dumps(self.schema, separators=(",", ":"))

    @property
    def text(self) -> str:
        """Return the whole question as one text, for programs that accept only text."""
        return "\n\n".join((self.system, self.spelled, self.data))

    @property
    def key(self) -> str:
        """Return the hash of instructions, schema and data, under which answers are stored."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:32]

    @property
    def expected(self) -> int:
        """Return the typical tokens of the answer."""
        return EXPECTED[self.kind] * max(self.items, 1) + 60


@cache
def instructions(kind: Kind) -> str:
    """Return the instructions for a kind of question, read from its file in prompts/."""
    return asset("prompts", f"{kind}.md").read_text(encoding="utf-8").strip()


@cache
def schema_of(kind: Kind) -> dict[str, Any]:
    """Return the JSON Schema of an answer, made from its record, without references."""
    (schema,), parts = msgspec.json.schema_components((ANSWERS[kind][1],), ref_template="{name}")
    found: dict[str, Any] = _inlined(schema, parts)
    return found


def _inlined(node: Any, parts: Mapping[str, Any]) -> Any:
    """Replace references by the parts they name, and close every object to other keys."""
    if isinstance(node, list):
        return [_inlined(one, parts) for one in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        return _inlined(parts[node["$ref"]], parts)
    found = {
        key: {name: _inlined(part, parts) for name, part in value.items()}
        if key == "properties"
        else _inlined(value, parts)
        for key, value in node.items()
        if key not in ("default", "title", "description")
    }
    if "enum" in found:
        found["type"] = "string"
    if found.get("type") == "object":
        found["additionalProperties"] = False
    return found


def prompt_hash(own: Mapping[Kind, str]) -> str:
    """Return the hash of all instructions and schemas, as recorded in a run's manifest.

    `own` are the instructions of the repository by kind of question.
    """
    texts = {kind: own.get(kind) or instructions(kind) for kind in ANSWERS}
    fixed = "\0".join(f"{texts[kind]}\n{json.dumps(schema_of(kind))}" for kind in ANSWERS)
    return f"sha256:{hashlib.sha256(fixed.encode()).hexdigest()}"
