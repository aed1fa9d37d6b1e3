"""The validator of the lineage's files: every rule, on a file that breaks just that one."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memrepo.checks.artifacts import MANIFEST_KEYS, check_artifacts, has_errors
from memrepo.core.memory import HOMES
from memrepo.purify import lineage


def claim(digit: str, **more: Any) -> dict[str, Any]:
    """Return a sound claim; the id repeats a digit."""
    record: dict[str, Any] = dict.fromkeys(lineage.CLAIM_FIELDS)
    record |= {
        "id": f"cl-{digit * 16}",
        "type": "fact",
        "status": "resolved",
        "text": f"text {digit}",
        "primaryHome": "LTMEMORY.md",
        "secondaryTags": [],
        "profileScope": "personal",
        "provenance": [{"source": "MEMORY.md", "lineSpan": [1, 1], "type": "direct"}],
        "contradictions": [],
        "supersedes": [],
        "supersededBy": [],
    }
    return {**record, **more}


class Artifacts:
    """The files of an export as objects, to be broken in one place."""

    def __init__(self) -> None:
        one, two, old = claim("1"), claim("2"), claim("3", status="superseded")
        one["supersedes"], old["supersededBy"] = [old["id"]], [one["id"]]
        one["contradictionClusterId"] = two["contradictionClusterId"] = "contra-1"
        self.claims = [one, two, old]
        self.contradictions = [
            {
                "contradictionClusterId": "contra-1",
                "claimId": one["id"],
                "competingClaimId": two["id"],
                "competingText": two["text"],
                "relation": "contested",
                "flaggedInRunId": "r",
                "recordedAt": "t",
                "recordedAt_utc": "t",
                "timezone": "UTC",
            },
        ]
        self.entities: Any = {"x": {"canonicalForm": "x", "aliases": [], "claimIds": [one["id"]]}}
        self.routes: Any = {home: [] for home in HOMES} | {"LTMEMORY.md": [one["id"], two["id"]]}
        self.manifest: Any = dict.fromkeys(MANIFEST_KEYS)
        self.views = dict.fromkeys(HOMES, b"# x\n\n### y\n")
        self.raw: dict[str, bytes | None] = {}
        self.profile = "personal"

    def files(self) -> dict[str, bytes]:
        made: dict[str, bytes | None] = {
            lineage.CLAIMS: lines(self.claims),
            lineage.CONTRADICTIONS: lines(self.contradictions),
            lineage.ENTITIES: json.dumps(self.entities).encode(),
            lineage.ROUTES: json.dumps(self.routes).encode(),
            lineage.MANIFEST: json.dumps(self.manifest).encode(),
            **self.raw,
        }
        return {name: data for name, data in made.items() if data is not None}


def lines(records: list[Any]) -> bytes:
    return "".join(json.dumps(record) + "\n" for record in records).encode()


def test_sound_files_have_no_finding() -> None:
    sound = Artifacts()
    assert check_artifacts(sound.files(), "personal", sound.views) == []


Break = Callable[[Artifacts], object]


def setting(number: int, **more: Any) -> Break:
    """Return a break that sets fields of one claim."""
    return lambda a: a.claims[number].update(more)


def managed(**more: Any) -> Break:
    return lambda a: a.manifest.update(more)


def routing(**more: Any) -> Break:
    return lambda a: a.routes.update({f"{home}.md": ids for home, ids in more.items()})


ERRORS: list[tuple[str, str, Break]] = [
    *[
        (f"no {n}", "artifact-missing", lambda a, n=n: a.raw.update({n: None}))
        for n in lineage.ARTIFACTS
    ],
    ("claims line", "artifact-line", lambda a: a.raw.update({lineage.CLAIMS: b"{\n"})),
    ("claims NaN", "artifact-line", lambda a: a.raw.update({lineage.CLAIMS: b'{"id": NaN}\n'})),
    ("claims bytes", "artifact-line", lambda a: a.raw.update({lineage.CLAIMS: b"\xff\n"})),
    (
        "contradiction line",
        "artifact-line",
        lambda a: a.raw.update({lineage.CONTRADICTIONS: b"[]\n"}),
    ),
    ("manifest json", "artifact-json", lambda a: a.raw.update({lineage.MANIFEST: b"x"})),
    ("routes json", "artifact-json", lambda a: a.raw.update({lineage.ROUTES: b"[]"})),
    ("entities json", "artifact-json", lambda a: a.raw.update({lineage.ENTITIES: b"3"})),
    *[
        (f"manifest {key}", "published-key", lambda a, key=key: a.manifest.pop(key))
        for key in MANIFEST_KEYS
    ],
    ("claim id", "claim-id", setting(1, id="")),
    ("claim id type", "claim-id", setting(1, id=["x"])),
    ("claim id twice", "claim-same-id", setting(1, id=f"cl-{'1' * 16}")),
    ("claim fields", "claim-fields", lambda a: a.claims[0].pop("rationale")),
    ("claim type", "claim-type", setting(0, type="rumour")),
    ("claim type list", "claim-type", setting(0, type=["fact"])),
    ("claim status", "claim-status", setting(1, status="fine")),
    ("claim home", "claim-home", setting(0, primaryHome="NOTES.md")),
    ("claim text", "claim-text", setting(0, text=" \n")),
    ("claim provenance", "claim-provenance", setting(0, provenance=[])),
    ("claim provenance type", "claim-provenance", setting(0, provenance="MEMORY.md")),
    ("claim route", "claim-route", setting(0, type="procedure")),
    ("claim chain", "claim-chain", setting(2, supersededBy=[])),
    ("claim chain status", "claim-chain-status", setting(2, status="resolved")),
    ("claim self", "claim-self", setting(1, supersededBy=[f"cl-{'2' * 16}"])),
    ("contradiction keys", "contradiction-keys", lambda a: a.contradictions[0].pop("recordedAt")),
    (
        "contradiction claim",
        "contradiction-claim",
        lambda a: a.contradictions[0].update(claimId="cl-x"),
    ),
    ("contradiction cluster", "contradiction-cluster", setting(0, contradictionClusterId=None)),
    (
        "contradiction relation",
        "contradiction-relation",
        lambda a: a.contradictions[0].update(relation="odd"),
    ),
    ("entity shape", "entity-shape", lambda a: a.entities["x"].pop("aliases")),
    ("entity claim", "entity-claim", lambda a: a.entities["x"].update(claimIds=["cl-x"])),
    ("route list", "route-list", routing(WISHES="cl-x")),
    ("route claim", "route-claim", routing(WISHES=["cl-x"])),
    ("route home", "route-home", routing(WISHES=[f"cl-{'1' * 16}"])),
    ("route inactive", "route-inactive", routing(LTMEMORY=[f"cl-{'3' * 16}"])),
]

WARNINGS: list[tuple[str, str, Break]] = [
    ("manifest status", "published-status", managed(status="error")),
    ("manifest profile", "published-profile", managed(profileScope="team")),
    ("claim profile", "claim-profile", setting(0, profileScope="team")),
    ("claim foreign", "claim-foreign-field", setting(0, createdAt="x")),
    ("acceptable", "claim-odd-route", setting(0, type="method")),
    ("suspicious", "claim-odd-route", lambda a: _move(a, "commitment", "WISHES.md")),
    ("home tag", "claim-home-tag", setting(0, secondaryTags=["LTMEMORY.md"])),
    ("long episode", "claim-long-episode", lambda a: _episode(a, "episodes/a.md", "x" * 501)),
    ("episode source", "claim-episode-source", lambda a: _episode(a, "MEMORY.md", "x")),
    ("supersedes", "claim-supersedes", setting(1, supersedes=["cl-x"])),
    ("superseded by", "claim-superseded-by", setting(1, supersededBy=["cl-x"])),
    ("route key", "route-key", lambda a: a.routes.pop("WISHES.md")),
    ("no view", "view-missing", lambda a: a.views.pop("LTMEMORY.md")),
    ("no personal view", "view-missing", lambda a: a.views.pop("WISHES.md")),
    ("empty view", "view-empty", lambda a: a.views.update({"LTMEMORY.md": b"# x\n"})),
    ("personal view", "view-personal", lambda a: setattr(a, "profile", "business")),
]


def _move(a: Artifacts, type_: str, home: str) -> None:
    a.claims[1].update(type=type_, primaryHome=home)
    a.routes["LTMEMORY.md"].remove(a.claims[1]["id"])
    a.routes[home].append(a.claims[1]["id"])


def _episode(a: Artifacts, source: str, text: str) -> None:
    _move(a, "episode", "EPISODES.md")
    a.claims[1].update(text=text, provenance=[{"source": source}])


@pytest.mark.parametrize(("rule", "breaks"), [t[1:] for t in ERRORS], ids=[t[0] for t in ERRORS])
def test_an_error_is_found(rule: str, breaks: Break) -> None:
    broken = Artifacts()
    breaks(broken)
    found = check_artifacts(broken.files(), broken.profile)
    assert rule in {p.rule for p in found if p.severity == "error"}


@pytest.mark.parametrize(
    ("rule", "breaks"), [t[1:] for t in WARNINGS], ids=[t[0] for t in WARNINGS]
)
def test_a_warning_is_found_and_no_error(rule: str, breaks: Break) -> None:
    broken = Artifacts()
    breaks(broken)
    found = check_artifacts(broken.files(), broken.profile, broken.views)
    assert {p.rule for p in found} == {rule}
    assert not has_errors(found)


def test_every_rule_is_explained_and_no_other() -> None:
    page = Path(__file__).resolve().parents[2] / "docs" / "interchange.md"
    _, _, artifacts = page.read_text("utf-8").partition("\n## Artifacts\n")
    listed = set(re.findall(r"^\| `([a-z-]+)` \|", artifacts, re.MULTILINE))
    known = {rule for _, rule, _ in (*ERRORS, *WARNINGS)} | {"claim-personal-home"}
    assert {rule for rule in listed if "-" in rule} == known


def test_a_personal_home_on_another_profile_is_an_error() -> None:
    broken = Artifacts()
    _move(broken, "milestone", "HISTORY.md")
    assert check_artifacts(broken.files(), "personal") == []
    (found,) = check_artifacts(broken.files(), "business")
    assert (found.rule, found.severity, found.line) == ("claim-personal-home", "error", 2)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from([*lineage.CLAIM_FIELDS, "aliases", "claimIds", *HOMES]),
            inner,
            max_size=5,
        )
    ),
    max_leaves=12,
)


@settings(max_examples=60)
@given(st.dictionaries(st.sampled_from(lineage.ARTIFACTS), JSON), JSON, st.sampled_from([0, 1, 2]))
def test_malformed_types_are_findings_and_never_exceptions(
    pages: dict[str, Any], value: Any, number: int
) -> None:
    broken = Artifacts()
    broken.claims[number].update(value if isinstance(value, dict) else {"id": value})
    broken.raw = {name: json.dumps(page).encode() for name, page in pages.items()}
    assert isinstance(check_artifacts(broken.files(), "personal", broken.views), list)
