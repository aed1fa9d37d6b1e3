"""Names that texts mention."""

from __future__ import annotations

import pytest

from memrepo.policies.links import mentions


@pytest.mark.parametrize(
    ("text", "sure"),
    [
        ("Last week Mara Lindqvist met Bob in Lisbon.", ("Mara Lindqvist", "Bob", "Lisbon")),
        ("Deploys go to db1.example.org with `rsync`.", ("rsync", "db1.example.org")),
        ("We moved from GitHub to k8s, says @holt.", ("@holt", "GitHub", "k8s")),
        ("Read notes.md and `--force` on Monday in March.", ()),
        ("Never prune the roses.", ()),
        ("Der Server ist im Keller, sagt Anna Berg.", ("Anna Berg",)),
        ("The Open Door Project is funded by NATO.", ("NATO", "Open Door Project")),
        ("It is Mara's idea.", ("Mara",)),
        ("", ()),
    ],
)
def test_mentions(text: str, sure: tuple[str, ...]) -> None:
    assert mentions(text)[0] == sure
