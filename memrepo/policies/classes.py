"""Which decay class a memory has: the one it names, else the first whose words it holds.

Words by which a decay class is known, a list for each language; rows are tried in this order.

Lineage: openclaw-hybrid-memory, decay classes. Keys are matched by whole segments, texts by whole
words, so forms that the lineage found as parts of words are listed.

Which decay class a memory has: the one it names, else the first whose words it holds.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from types import MappingProxyType

from memrepo.core.ids import normalise
from memrepo.core.memory import Memory
from memrepo.core.patterns import regex

ORDER = ("permanent", "session", "active", "checkpoint")
KEYS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "permanent": (
            "name",
            "email",
            "api_key",
            "api_endpoint",
            "architecture",
            "decision",
            "birthday",
            "born",
            "phone",
            "language",
            "location",
            "geburtstag",
            "telefon",
            "sprache",
            "entscheidung",
            "architektur",
            "nom",
            "anniversaire",
            "téléphone",
            "langue",
            "décision",
            "nombre",
            "cumpleaños",
            "teléfono",
            "idioma",
            "decisión",
        ),
        "session": ("current_file", "temp", "debug", "working_on_right_now"),
        "active": (
            "task",
            "todo",
            "wip",
            "branch",
            "sprint",
            "blocker",
            "aufgabe",
            "tâche",
            "tarea",
        ),
        "checkpoint": ("checkpoint", "preflight"),
    }
)
TEXTS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "permanent": (
            "decided",
            "architecture",
            "architectures",
            "always use",
            "never use",
            "entschieden",
            "beschlossen",
            "architektur",
            "immer verwenden",
            "nie verwenden",
            "décidé",
            "toujours utiliser",
            "ne jamais utiliser",
            "decidido",
            "siempre usar",
            "nunca usar",
        ),
        "session": (
            "currently debugging",
            "right now",
            "this session",
            "gerade am debuggen",
            "jetzt gerade",
            "diese sitzung",
            "en ce moment même",
            "cette session",
            "ahora mismo",
            "esta sesión",
        ),
        "active": (
            "working on",
            "need to",
            "todo",
            "todos",
            "blocker",
            "blockers",
            "sprint",
            "sprints",
            "sprinting",
            "arbeite an",
            "muss noch",
            "travaille sur",
            "il faut",
            "trabajando en",
            "hay que",
        ),
        "checkpoint": ("checkpoint", "checkpoints", "preflight", "kontrollpunkt"),
    }
)
ENTITIES = ("decision", "convention")
"""Entities that make a statement permanent; a type or a tag of that name says the same."""


DEFAULT, SUMMARY = "stable", "durable"
AUTOMATIC = (*ORDER, DEFAULT)
"""Classes that classification gives; the others are only ever given by hand."""
_SPLIT = regex(r"[_\-.:\s]+|(?<=[a-z0-9])(?=[A-Z])")


def classify(entity: str, key: str, text: str) -> str:
    """Return the automatic class of a statement; a value has no say in it."""
    words = normalise(text)
    for name in ORDER:
        if _is_key(key, name) or _texts(name).search(words):
            return name
        if name == "permanent" and (normalise(entity) in ENTITIES or _is_key(entity, name)):
            return name
    return DEFAULT


def automatic(memory: Memory) -> str:
    """Return the class that classification gives a memory by the rules in force."""
    if memory.type == "summary":
        return SUMMARY
    told = next((e for e in ENTITIES if e in (memory.type, *memory.texts("tags"))), "")
    return classify(told or memory.text("subject"), memory.text("predicate"), memory.body)


def class_of(memory: Memory) -> str:
    """Return a memory's class: an explicit one always wins."""
    decay = memory.fields.get("decay")
    return decay.cls if decay is not None else memory.once("class", lambda: automatic(memory))


def _is_key(name: str, cls: str) -> bool:
    """Tell whether a key or entity holds a word of a class, of one segment or of several."""
    whole, (single, several) = segments(name), _keys(cls)
    return not single.isdisjoint(whole) or any(_holds(whole, part) for part in several)


@cache
def _keys(cls: str) -> tuple[frozenset[str], tuple[tuple[str, ...], ...]]:
    parts = [segments(word) for word in KEYS[cls]]
    return frozenset(p[0] for p in parts if len(p) == 1), tuple(p for p in parts if len(p) > 1)


@lru_cache(maxsize=4096)
def segments(name: str) -> tuple[str, ...]:
    """Split a key at `_ - . :`, blanks and changes of case, folded: `apiKey` is `api`, `key`."""
    return tuple(filter(None, (normalise(part) for part in _SPLIT.split(name))))


def _holds(whole: tuple[str, ...], part: tuple[str, ...]) -> bool:
    return any(whole[at : at + len(part)] == part for at in range(len(whole) - len(part) + 1))


@cache
def _texts(name: str) -> re.Pattern[str]:
    words = "|".join(re.escape(normalise(word)) for word in TEXTS[name])
    return re.compile(rf"(?<!\w)(?:{words})(?!\w)")
