"""Headers as other tools write them, in a folder that memrepo adopts: no byte of them changes."""

from __future__ import annotations

from pathlib import Path

import pytest
import workspaces
from driving import done, files, git, memrepo, program

ROOT = Path(__file__).resolve().parents[2]
ADOPTED = ROOT / "tests" / "data" / "adopted"
GIVEN = {
    file.relative_to(ADOPTED).as_posix(): file.read_bytes()
    for file in sorted(ADOPTED.rglob("*"))
    if file.is_file()
}
TAKEN = {f"memories/knowledge/{Path(name).name}": data for name, data in GIVEN.items()}
"""The same files where memories of memrepo's own would lie: a name that is taken."""


@pytest.mark.parametrize("more", [{}, TAKEN], ids=["free names", "names taken"])
def test_headers_of_other_tools_stay_as_they_are(tmp_path: Path, more: dict[str, bytes]) -> None:
    given = {**GIVEN, **more}
    folder = workspaces.write(tmp_path / "vault", given)
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "theirs")
    done(folder, "init")
    git(folder, "config", "memrepo.program", str(program(tmp_path / "memrepo")))
    assert done(folder, "check", "--all")["problems"] == []
    changed = {name: data + b"\nOne more line.\n" for name, data in given.items()}
    for name, data in changed.items():
        (folder / name).write_bytes(data)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "through the hooks")
    assert done(folder, "run")["status"] == "ok"
    answer = memrepo(folder, "check", "--fix", *given)
    assert (answer.exit, answer.data["problems"], answer.data["fixed"]) == (0, [], [])
    assert done(folder, "check", "--all")["problems"] == []
    after = files(folder)
    assert {name: after[name] for name in given} == changed
    assert git(folder, "status", "--porcelain") == ""
