"""Checking files, what is staged and what is committed; the hook stops a broken memory."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from driving import done, git, memories, memrepo, program

BROKEN = "---\nid: mem-12\ntype: facct\n---\n\nA broken one.\n"


@pytest.fixture
def repo(small_repo: Path) -> Path:
    """Return a repository whose hook calls this checkout's program."""
    wrapper = program(small_repo.parent / "memrepo wrapper")
    git(small_repo, "config", "memrepo.program", str(wrapper))
    return small_repo


def broken(repo: Path) -> str:
    name = "memories/knowledge/2026-01/broken-123456.md"
    (repo / name).parent.mkdir(parents=True, exist_ok=True)
    (repo / name).write_text(BROKEN)
    return name


def commit(repo: Path, *argv: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["git", "commit", "-q", "-m", "mine", *argv],
        cwd=repo,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PATH": os.environ["PATH"]},
    )


def test_all_memories_of_a_run_pass(ugly_repo: Path) -> None:
    answer = memrepo(ugly_repo, "check", "--all")
    assert (answer.exit, answer.data["problems"]) == (0, [])
    assert answer.data["files"] > len(memories(ugly_repo))


def test_a_named_file_is_judged_with_place_rule_and_remedy(repo: Path) -> None:
    name = broken(repo)
    answer = memrepo(repo, "check", name)
    assert answer.exit == 1
    rules = {(p["path"], p["line"], p["key"]) for p in answer.data["problems"]}
    assert {(name, 2, "id"), (name, 3, "type")} <= rules
    assert all(p["fix"] for p in answer.data["problems"])
    plain = memrepo(repo, "check", name, as_json=False)
    assert f"{name}:3:" in plain.out
    assert "(fix: " in plain.out


def test_the_hook_stops_an_unknown_decay_class_and_suggests_one(repo: Path) -> None:
    memory = next(iter(memories(repo).values()))
    path = repo / memory.path
    whole = path.read_text()
    path.write_text(whole.replace("\ntype: ", "\ndecay: {class: emphemeral}\ntype: ", 1))
    stopped = commit(repo, "-a")
    assert stopped.returncode == 1
    said = stopped.stdout + stopped.stderr
    assert f"{memory.path}:" in said
    assert "did you mean ephemeral?" in said
    git(repo, "commit", "-qam", "by hand", "--no-verify")
    assert memrepo(repo, "check", "--all").exit == 1
    config = repo / "memrepo.toml"
    config.write_text(config.read_text() + '\n[decay]\nttl = {emphemeral = "3h"}\n')
    assert commit(repo, "-a").returncode == 0
    assert memrepo(repo, "check", "--all").exit == 0


def test_a_hand_made_memory_is_completed_and_then_found(small_repo: Path) -> None:
    made = small_repo / "memories" / "knowledge" / "the-third-pot.md"
    made.write_bytes(b"---\ntype: fact # mine\n---\n\nThe spare key lies under the third pot.\n")
    name = made.relative_to(small_repo).as_posix()
    assert [p["rule"] for p in done(small_repo, "check", name)["problems"]] == ["memory-no-id"]
    (fixed,) = done(small_repo, "check", "--fix", name)["fixed"]
    assert not made.exists()
    text = (small_repo / fixed).read_text()
    assert "type: fact # mine\n" in text
    assert text.endswith("\n\nThe spare key lies under the third pot.\n")
    git(small_repo, "add", fixed)
    git(small_repo, "commit", "-qm", "by hand", "--no-verify")
    assert done(small_repo, "search", "spare key")["hits"][0]["path"] == fixed
    assert done(small_repo, "check", "--fix", fixed)["fixed"] == []


def test_an_untracked_copy_is_no_part_of_a_commit(small_repo: Path) -> None:
    id_ = done(small_repo, "add", "Bo owns the kiln.")["id"]
    made = small_repo / memories(small_repo)[id_].path
    made.with_name(f"copy-of-{made.name}").write_bytes(made.read_bytes())
    made.write_bytes(made.read_bytes().replace(b"the kiln", b"the big kiln"))
    git(small_repo, "add", made.relative_to(small_repo).as_posix())
    found = memrepo(small_repo, "check", "--staged").data["problems"]
    assert "memory-same-id" not in {problem["rule"] for problem in found}


@pytest.mark.parametrize("name", ["memories/knowledge/link.md", "memories"])
def test_a_staged_link_is_named_and_not_followed(repo: Path, name: str) -> None:
    rules = {"tree-not-a-file"} if name != "memories" else {"tree-not-a-file", "manifest-by-hand"}
    if name == "memories":
        git(repo, "rm", "-rq", "memories")
    (repo / name).symlink_to("/etc")
    git(repo, "add", name)
    answer = memrepo(repo, "check", "--staged")
    assert answer.exit == 1
    assert {p["rule"] for p in answer.data["problems"]} <= rules
    assert {p["path"] for p in answer.data["problems"]} == {name}


def test_a_note_without_a_header_is_given_one_of_its_folder(small_repo: Path) -> None:
    for layer, type_ in (("knowledge", "fact"), ("decisions", "decision")):
        path = small_repo / "memories" / layer / "kiln.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"\nThe kiln of {layer} needs a thermocouple.\n", encoding="utf-8")
        failed = memrepo(small_repo, "check", path, as_json=False)
        assert "`memrepo check --fix FILE` writes one" in failed.out + failed.err
        (fixed,) = done(small_repo, "check", "--fix", path)["fixed"]
        text = (small_repo / "memories" / layer / fixed.rpartition("/")[2]).read_text()
        assert f"type: {type_}\n" in text
        assert text.endswith(f"---\n\nThe kiln of {layer} needs a thermocouple.\n")
        assert len(text.split("---\n")[1].splitlines()) == 4
    empty = small_repo / "memories/knowledge/empty.md"
    empty.write_text("\n")
    (told,) = done(small_repo, "check", "--fix", empty)["problems"]
    assert (told["severity"], told["fix"]) == ("warning", "write its text, or delete it")
    assert empty.read_text() == "\n"
    git(small_repo, "add", "-A")
    git(small_repo, "commit", "-qm", "one note is not written yet")
    (small_repo / "memories" / layer / fixed.rpartition("/")[2]).write_text("")
    git(small_repo, "add", "-A")
    assert commit(small_repo).returncode == 1  # it was a memory


def test_a_staged_misspelt_key_is_refused_and_a_machine_field_is_put_back(tmp_path: Path) -> None:
    done(tmp_path, "init", "repo")
    repo = tmp_path / "repo"
    done(repo, "add", "Vera keeps bees.")
    (path,) = (repo / "memories").rglob("*.md")
    name = path.relative_to(repo).as_posix()
    good = path.read_text(encoding="utf-8")
    path.write_text(good.replace("type: fact", "type: fact\npined: true"), encoding="utf-8")
    git(repo, "add", "-A")
    answer = memrepo(repo, "check", "--staged", as_json=False)
    assert answer.exit == 1
    assert f"{name}:4:1: frontmatter-near-key" in answer.out
    assert "did you mean pinned?" in answer.out
    path.write_text(re.sub("created: .*", "created: 2020-01-01T00:00:00Z", good), encoding="utf-8")
    git(repo, "add", "-A")
    answer = memrepo(repo, "check", "--staged", "--fix", as_json=False)
    assert answer.out.strip() == f"fixed {name}: restored created, which only memrepo sets"
    assert path.read_text(encoding="utf-8") == good
    # As Obsidian's editor of properties writes it: one item per line, quoted times.
    text = good.replace("type: fact\n", "type: fact\ntags:\n  - queen bees\naliases:\n  - Vera's\n")
    text = re.sub("created: (.*)", 'created: "\\1"', text)
    path.write_text(text, encoding="utf-8")
    git(repo, "add", "-A")
    answer = memrepo(repo, "check", "--staged", "--fix", as_json=False)
    assert (answer.exit, answer.out.strip()) == (0, f"fixed {name}")
    git(repo, "commit", "-qm", "Properties")
    done(repo, "edit", "Vera's", "--set", "aliases=Vera's hives, Apiary")
    shown = done(repo, "show", "Apiary")["memory"]
    assert (shown["tags"], shown["aliases"]) == (["queen-bees"], ["Vera's hives", "Apiary"])


def test_what_is_broken_is_not_touched_by_a_fix(small_repo: Path) -> None:
    made = small_repo / "memories" / "knowledge" / "broken.md"
    made.write_bytes(b"---\ntype: fact\ntype: fact\n---\n\ntext\n")
    answer = memrepo(small_repo, "check", "--fix", "memories/knowledge/broken.md")
    assert answer.exit == 1
    assert made.read_bytes() == b"---\ntype: fact\ntype: fact\n---\n\ntext\n"
    assert memrepo(small_repo, "check", "--fix").exit == 2


def test_a_file_behind_a_linked_folder_is_not_read(small_repo: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("password: hunter22x\n")
    (small_repo / "memories" / "away").symlink_to(tmp_path)
    (problem,) = memrepo(small_repo, "check", "memories/away/secret.md").data["problems"]
    assert problem["rule"] == "file-unreadable"


def test_a_name_that_is_not_utf8_is_a_problem(repo: Path) -> None:
    path = os.fsencode(repo) + b"/memories/knowledge/\xff.md"
    with open(path, "wb") as handle:  # noqa: PTH123 - no text can name it
        handle.write(b"---\ntype: fact\n---\n\nText.\n")
    git(repo, "add", "memories")
    (problem,) = memrepo(repo, "check", "--staged").data["problems"]
    assert (problem["rule"], problem["path"]) == (
        "tree-name-not-utf8",
        "memories/knowledge/\\udcff.md",
    )
