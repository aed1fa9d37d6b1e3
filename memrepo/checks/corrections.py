"""What `check` says of correction files: header, values, the two texts, id against file name."""

from __future__ import annotations

import re
from collections.abc import Mapping

from memrepo.core.corrections import Correction, decode
from memrepo.core.problems import Problem

_PLACE = re.compile(r"(?:.*/)?corrections/[^/]+\.md")


def is_correction(path: str) -> bool:
    """Tell whether a path is one of a correction file, wherever it is seen from."""
    return _PLACE.fullmatch(path) is not None and "memories/" not in path


def check_corrections(files: Mapping[str, bytes]) -> list[Problem]:
    """Return every finding in correction files, by path; two files about one case are one."""
    problems: list[Problem] = []
    seen: dict[str, str] = {}
    for path in sorted(files):
        found = decode(path, files[path])
        if not isinstance(found, Correction):
            problems += found
        elif seen.setdefault(found.id, path) != path:
            problems.append(
                Problem(
                    path=path, line=1, rule="correction-same-id", key="id", severity="warning",
                    message=f"found {found.id}, which {seen[found.id]} has too; the one that was"
                    " decided last counts",
                    fix="delete the other one",
                )
            )  # fmt: skip
    return problems
