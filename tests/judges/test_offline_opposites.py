"""What the rules call an opposite, and what they let stand side by side."""

from __future__ import annotations

import pytest

from memrepo.judges.offline import opposed


@pytest.mark.parametrize(
    ("one", "other", "found"),
    [
        ("She loves dark mode.", "She hates dark mode.", True),
        ("The gate is always open at night.", "The gate is never open at night.", True),
        ("Backups run on the old server.", "Backups do not run on the old server.", True),
        ("Sie mag dunkle Farben.", "Sie hasst dunkle Farben.", True),
        ("She likes TypeScript.", "She likes Python.", False),
        ("The port is 8080.", "The port is 9090.", False),
        ("She loves dark mode.", "She loves dark mode.", False),
        ("She never eats meat.", "She never eats fish.", False),
        ("No.", "Not.", False),
        ("", "", False),
    ],
)
def test_opposites(one: str, other: str, found: bool) -> None:
    assert bool(opposed(one, other)) is found
    assert opposed(one, other) == opposed(other, one)
