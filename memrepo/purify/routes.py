"""Map each type of claim to its primary page (memory-purifier, route affinity).

All seventy combinations are listed. A test compares each with memory-purifier's table.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from memrepo.core.memory import CLAIM_TYPES, HOME_OF_TYPE, HOMES

if TYPE_CHECKING:
    from memrepo.core.judge import Profile

Affinity = Literal["strong", "acceptable", "suspicious", "impossible"]

AFFINITY_SCORE: Mapping[Affinity, float] = MappingProxyType(
    {
        "strong": 1.0,
        "acceptable": 0.5,
        "suspicious": 0.1,
        "impossible": 0.0,
    }
)
PERSONAL_HOMES = ("HISTORY.md", "WISHES.md")
_LETTERS: Mapping[str, Affinity] = {
    "S": "strong",
    "A": "acceptable",
    "?": "suspicious",
    "X": "impossible",
}
_ROWS = {
    # columns: LTMEMORY PLAYBOOKS EPISODES HISTORY WISHES
    "fact": "SXXXX",
    "preference": "SXXXX",
    "constraint": "SXXXX",
    "commitment": "SXXX?",
    "identity": "SXX?X",
    "relationship": "SXX?X",
    "lesson": "SAXXX",
    "decision": "SAX?X",
    "open_question": "SXXX?",
    "method": "ASXXX",
    "procedure": "XSXXX",
    "episode": "XXS?X",
    "milestone": "XXASX",
    "aspiration": "XXXXS",
}
AFFINITIES: Mapping[tuple[str, str], Affinity] = MappingProxyType(
    {
        (type_, home): _LETTERS[letter]
        for type_ in CLAIM_TYPES
        for home, letter in zip(HOMES, _ROWS[type_], strict=True)
    }
)


def affinity(type_: str, home: str) -> Affinity:
    """Return how well a page suits a type of claim. Unknown types and pages are suspicious."""
    return AFFINITIES.get((type_, home), "suspicious")


def permitted(home: str, profile: Profile) -> bool:
    """Return whether a profile has a page. HISTORY and WISHES exist only in personal profiles."""
    return home in HOMES and (profile == "personal" or home not in PERSONAL_HOMES)


def recast(type_: str, profile: Profile) -> str:
    """Return the type that a claim gets in a profile.

    An aspiration only fits WISHES, which the business profile lacks. There it becomes an open
    question, because a wish is undecided. memory-purifier documented this rerouting, but its code
    refused the whole batch.
    """
    return "open_question" if type_ == "aspiration" and profile == "business" else type_


def route(type_: str, profile: Profile) -> str:
    """Return the page that suits a type best among the pages that a profile permits.

    The type is first converted by `recast`. On the business profile, a milestone retains its type
    and goes to EPISODES, its acceptable second home. An unknown type goes to LTMEMORY.
    """
    type_ = recast(type_, profile)
    own = HOME_OF_TYPE.get(type_, "LTMEMORY.md")
    if permitted(own, profile):
        return own
    homes = [home for home in HOMES if permitted(home, profile)]
    return max(homes, key=lambda home: AFFINITY_SCORE[affinity(type_, home)])
