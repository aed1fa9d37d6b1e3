"""`check` and `doctor` agree on damage that no rule about one file sees."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from driving import LATER, classic, done, git, memrepo

Harm = Callable[[Path], object]


def committed(repo: Path) -> None:
    git(repo, "commit", "-qam", "by hand", "--no-verify")


def change(repo: Path, name: str, old: str, new: str) -> None:
    path = repo / name
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def record(repo: Path) -> Path:
    return next((repo / "runs").rglob("*.json"))


def replace_object(repo: Path) -> None:
    path = git(repo, "ls-files", "memories").split("\n")[0]
    blob = git(repo, "rev-parse", f"HEAD:{path}").strip()
    (repo.parent / "other").write_text("other\n")
    other = git(repo, "hash-object", "-w", str(repo.parent / "other")).strip()
    git(repo, "replace", blob, other)


def forge(repo: Path) -> None:
    change(repo, "sources/MEMORY.md", "- ", "- Not ")
    committed(repo)


def forge_beside(repo: Path) -> None:
    (repo / "runs" / "n.json").write_bytes(record(repo).read_bytes())
    git(repo, "add", "runs")
    forge(repo)


def tamper(repo: Path) -> None:
    with (repo / "views" / "LTMEMORY.md").open("a") as page:
        page.write("- a line of somebody's\n")
    committed(repo)


def forge_new(repo: Path) -> None:
    (repo / "sources" / "USER.md").write_text("- Likes tea.\n")
    git(repo, "add", "sources")
    committed(repo)


def flip(repo: Path) -> None:
    path = record(repo)
    path.write_text(path.read_text().replace("1", "9", 1))


def damage_index(repo: Path) -> None:
    (repo / ".git" / "memrepo" / "index.sqlite3").write_bytes(b"DIRX" * 999)


HARM: dict[str, tuple[Harm, str]] = {
    "a deleted record": (lambda r: record(r).unlink(), "record-lost"),
    "a record deleted in a commit": (lambda r: (record(r).unlink(), committed(r)), "record-lost"),
    "git replace": (replace_object, "object-replaced"),
    "a forged copy": (forge, "source-forged"),
    "a forged copy beside a copied record": (forge_beside, "source-forged"),
    "an uncommitted forgery": (
        lambda r: change(r, "sources/MEMORY.md", "- ", "- Not "),
        "source-forged",
    ),
    "a copy made by hand": (forge_new, "source-forged"),
    "an edited record": (flip, "record-forged"),
    "a record edited in a commit": (lambda r: (flip(r), committed(r)), "record-forged"),
    "a tampered page": (tamper, "page-edited"),
    "a filter": (
        lambda r: (r / ".gitattributes").write_text("*.md filter=lfs diff=lfs -text\n"),
        "git-filter",
    ),
    "a damaged index": (lambda r: (r / ".git" / "index").write_bytes(b"DIRX" * 9), "index file"),
    "a damaged search index": (damage_index, "search index is damaged"),
}


@pytest.mark.parametrize("name", HARM)
def test_check_and_doctor_report_the_same_damage(small_repo: Path, name: str) -> None:
    harm, rule = HARM[name]
    assert rule not in memrepo(small_repo, "check", "--all", as_json=False).out
    harm(small_repo)
    checked = memrepo(small_repo, "check", "--all", as_json=False)
    assert rule in checked.out + checked.err
    assert checked.exit != 0
    failed = [c for c in memrepo(small_repo, "doctor").data["checks"] if not c["ok"]]
    assert any(rule in c["message"] for c in failed)


def test_a_reverted_run_is_no_damage(small_repo: Path) -> None:
    done(small_repo, "revert", now=LATER)
    assert "record-lost" not in memrepo(small_repo, "check", "--all", as_json=False).out


def test_a_run_reverted_by_git_is_no_damage(small_repo: Path) -> None:
    git(small_repo, "revert", "--no-edit", "-m", "1", "HEAD")
    for _ in range(2):
        assert memrepo(small_repo, "check", "--all", as_json=False).exit == 0
        assert "record-lost" not in memrepo(small_repo, "doctor", as_json=False).out
        done(small_repo, "run", now=LATER)


def test_a_lost_page_is_reported_by_both_and_made_again_by_the_next_write(small_repo: Path) -> None:
    lost = [small_repo / "MEMORY.md", small_repo / "views" / "LTMEMORY.md"]
    for path in lost:
        path.unlink()
    found = memrepo(small_repo, "check", "--all").data["problems"]
    assert [p["rule"] for p in found].count("page-lost") == 2
    assert memrepo(small_repo, "doctor").exit == 1
    done(small_repo, "add", "The mill pond froze.", now=LATER)
    assert all(path.exists() for path in lost)


def test_a_filter_is_reported_with_the_file_that_sets_it(small_repo: Path) -> None:
    (small_repo / "memories" / ".gitattributes").write_text("*.md filter=lfs\n")
    (found,) = [
        p for p in memrepo(small_repo, "check").data["problems"] if p["rule"] == "git-filter"
    ]
    assert "memories/.gitattributes" in found["fix"]


@pytest.mark.parametrize("command", ["status", "check"])
def test_an_empty_head_is_damage_and_not_a_missing_repository(
    small_repo: Path, command: str
) -> None:
    (small_repo / ".git" / "HEAD").write_bytes(b"")
    error = memrepo(small_repo, command).error
    assert "HEAD is empty" in error["message"]
    assert "echo 'ref: refs/heads/main'" in error["fix"]


@pytest.mark.parametrize("content", [b"", b"zzz", None])
def test_a_branch_without_its_commit_is_damage_that_one_command_mends(
    small_repo: Path, content: bytes | None
) -> None:
    head, ref = git(small_repo, "rev-parse", "HEAD"), small_repo / ".git" / "refs/heads/main"
    ref.unlink() if content is None else ref.write_bytes(content)
    for command in (["check"], ["status"], ["init", "."]):
        error = memrepo(small_repo, *command).error
        assert "refs/heads/main is empty or damaged" in error["message"]
    subprocess.run(error["fix"].split("`")[1], shell=True, cwd=small_repo, check=True)
    assert git(small_repo, "rev-parse", "HEAD") == head


def test_doctor_says_that_it_built_a_damaged_index_again(small_repo: Path) -> None:
    damage_index(small_repo)
    for options, ok, fixed in (([], False, False), (["--fix"], True, True), ([], True, False)):
        checks = memrepo(small_repo, "doctor", *options).data["checks"]
        (index,) = (c for c in checks if c["name"] == "index")
        assert (index["ok"], index["fixed"]) == (ok, fixed)
        assert ("damaged" in index["message"]) == (fixed or not ok)


def test_a_lost_commit_is_damage_and_not_a_missing_repository(small_repo: Path) -> None:
    git(small_repo, "commit", "-qnm", "by hand", "--allow-empty")
    head = git(small_repo, "rev-parse", "HEAD").strip()
    (small_repo / ".git" / "objects" / head[:2] / head[2:]).unlink()
    for command in (["status"], ["init", "."]):
        assert head in memrepo(small_repo, *command).error["message"]


def test_twins_in_a_workspace_do_not_make_check_fail(small_repo: Path) -> None:
    folder = small_repo.parent / "workspace" / "memory"
    folder.mkdir(exist_ok=True)
    for name in ("house.md", "House.md", "cafe\u0301.md", "caf\u00e9.md"):
        (folder / name).write_text(f"# {name}\n\n- The boiler of {name} is old.\n")
    done(small_repo, "run", now=LATER)
    checked = memrepo(small_repo, "check", "--all", as_json=False)
    assert "path-collision" in checked.out
    assert checked.exit == 0


def test_a_run_killed_before_it_renames_a_layer_leaves_nothing_in_the_way(small_repo: Path) -> None:
    classic(small_repo)
    if not (child := os.fork()):
        rename = Path.replace

        def replace(self: Path, target: Path) -> Path:
            return os._exit(9) if Path(target).parent.name == "memory" else rename(self, target)

        Path.replace = replace  # type: ignore[method-assign, assignment]
        memrepo(small_repo, "run", now=LATER)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    assert git(small_repo, "status", "--porcelain") == ""
    done(small_repo, "run", now=LATER)
    assert [*(small_repo / "memory").glob("*.md")]
    assert not [*(small_repo / ".memrepo" / "drafts").iterdir()]
