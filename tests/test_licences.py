"""The packages that come with memrepo: their licences are known, and of kinds that fit its own."""

from __future__ import annotations

import re
from importlib.metadata import metadata

import pytest
from docs_parts import ROOT

LOCKED = re.compile(r"^([a-z0-9][a-z0-9.-]*)==", re.MULTILINE)
NAMES = LOCKED.findall((ROOT / "requirements.lock").read_text(encoding="utf-8"))
FIT = re.compile(
    r"(?:MIT|BSD|ISC|Apache|PSF|MPL-2\.0|Python Software Foundation)[\w .()-]*", re.IGNORECASE
)
"""Licences under which a package may come with one that is under MIT."""


def licence(package: str) -> str:
    """Return the licence that an installed package names."""
    found = metadata(package)
    if text := found.get("License-Expression") or found.get("License") or "":
        return text.strip().split("\n")[0]
    kinds = (c for c in found.get_all("Classifier") or () if c.startswith("License ::"))
    return ", ".join(c.rpartition(" :: ")[2] for c in kinds)


@pytest.mark.parametrize("package", NAMES)
def test_a_package_of_the_lock_has_a_licence_that_fits(package: str) -> None:
    said = licence(package)
    parts = re.split(r", | OR | AND ", said)
    assert said
    assert [part for part in parts if not FIT.fullmatch(part)] == []
