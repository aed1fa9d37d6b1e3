"""Words by which a decay class is known, a list for each language; rows are tried in this order.

Lineage: openclaw-hybrid-memory, decay classes. Keys are matched by whole segments, texts by whole
words, so forms that the lineage found as parts of words are listed.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

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
