"""What `init` and runs read of a workspace, and that everything else is named."""

from __future__ import annotations

from pathlib import Path

import pytest
import workspaces
from driving import NEXT_DAY, begin, done, git, memories, memrepo

OTHER = "- Rui repairs clocks in the cellar of the old school.\n"


def begun(tmp_path: Path, files: dict[str, str]) -> Path:
    given = {name: text.encode() for name, text in files.items()}
    return begin(tmp_path, workspaces.write(tmp_path / "workspace", given))


def bodies(repo: Path) -> str:
    return "\n".join(memory.body for memory in memories(repo).values())


@pytest.mark.parametrize(
    "name",
    [
        ".claude/memory/people.md",
        ".claude/memory/MEMORY.md",
        ".claude/agent-memory/reviewer/MEMORY.md",
        ".claude/projects/-home-rui-shop/memory/people.md",
        ".openclaw/workspace/memory/people.md",
        ".serena/memories/people.md",
        ".learnings/LEARNINGS.md",
        "config/MEMORY.md",
        "config/USER.md",
        "config/TOOLS.md",
        "a/b/IDENTITY.md",
        "memory/1/2/3/4/5/6/7/8/9/people.md",
        "1/2/3/4/5/6/7/8/9/MEMORY.md",
    ],
)
def test_the_memory_of_an_agent_is_read_wherever_agents_store_it(tmp_path: Path, name: str) -> None:
    text = "- The warehouse in Porto is always locked with the red key.\n"
    repo = begun(tmp_path, {"MEMORY.md": OTHER, name: text})
    assert "red key" in bodies(repo)
    assert done(repo, "status")["unmatched"]["count"] == 0


def test_a_daily_log_in_a_hidden_memory_folder_is_a_note(tmp_path: Path) -> None:
    log = "# Tuesday\n\nThe glazier came at noon and measured both windows.\n"
    repo = begun(tmp_path, {"MEMORY.md": OTHER, ".claude/memory/2026-02-17.md": log})
    (note,) = [m for m in memories(repo).values() if m.is_note]
    assert note.sources[0].captured == "2026-02-17"


@pytest.mark.parametrize(
    ("files", "name"),
    [
        ({".obsidian/a.md": "x", ".obsidian/b/c.md": "x"}, ".obsidian/"),
        ({".claude/commands/deploy.md": "x"}, ".claude/commands/"),
        ({".claude/CLAUDE.local.md": "x"}, ".claude/CLAUDE.local.md"),
        ({"notes/1/2/3/4/5/6/7/8/a.md": "x"}, "notes/1/2/3/4/5/6/7/8/a.md"),
        ({"clone/.git/HEAD": "x", "clone/MEMORY.md": "x"}, "clone/"),
        ({"notes/a.org": "x"}, "notes/a.org"),
        ({"memory/a.rst": "x"}, "memory/a.rst"),
        ({"memory/PEOPLE.MD": "x"}, "memory/PEOPLE.MD"),
    ],
)
def test_what_no_pattern_names_is_named_with_its_share(
    tmp_path: Path, files: dict[str, str], name: str
) -> None:
    given = {"MEMORY.md": OTHER, **{path: text * len(OTHER) for path, text in files.items()}}
    repo = begun(tmp_path, given)
    count = sum(path.endswith((".md", ".MD", ".org", ".rst")) for path in files)
    share = {1: 50.0, 2: 66.7}[count]
    told = done(repo, "status")["unmatched"]
    assert told == {"count": 1, "paths": [name], "pct": share}
    again = memrepo(tmp_path, "init", "other", "--from", "workspace", as_json=False)
    assert f"{share:g} % of the text\n  {name} (" in again.out
    assert f"({share:g} % of the text): {name}" in again.err


def test_a_pattern_that_names_it_takes_a_hidden_folder_or_a_repository_in(tmp_path: Path) -> None:
    files = {
        ".diary/deep/a.md": "- The piano is tuned each May by Hanna.\n",
        "clone/.git/HEAD": "x",
        "clone/b.md": "- The boiler is serviced each June by Nils.\n",
    }
    repo = begun(tmp_path, {"MEMORY.md": OTHER, **files})
    assert "Hanna" not in bodies(repo)
    done(repo, "config", "add", "sources.claims", ".diary/", "clone/**")
    done(repo, "run", now=NEXT_DAY)
    assert "Hanna" in bodies(repo)
    assert "Nils" in bodies(repo)
    assert done(repo, "status")["unmatched"]["count"] == 0


def test_a_link_and_copies_are_named_by_init(tmp_path: Path) -> None:
    files = {"MEMORY.md": OTHER, "templates/USER.md": OTHER, "backup/old/MEMORY.md": OTHER}
    ws = workspaces.write(tmp_path / "workspace", {n: t.encode() for n, t in files.items()})
    (ws / "elsewhere").symlink_to(tmp_path)
    (ws / "notes.txt").symlink_to(ws / "MEMORY.md")
    answer = done(tmp_path, "init", "repo", "--from", ws)
    assert {one["name"]: one["denied"] for one in answer["left_alone"]} == dict.fromkeys(
        ("backup/", "templates/", "elsewhere", "notes.txt"), True
    )
    assert answer["ingest"]["added"] == ["sources/MEMORY.md"]


def test_a_folder_that_is_only_called_like_one_of_memrepos_is_named(tmp_path: Path) -> None:
    files = {"MEMORY.md": OTHER, "memories/rui.md": OTHER, "sources/deep/books.md": OTHER}
    ws = workspaces.write(tmp_path / "workspace", {n: t.encode() for n, t in files.items()})
    answer = done(tmp_path, "init", "workspace/repo", "--from", ws)
    done(ws / "repo", "run")
    assert [one["name"] for one in answer["left_alone"]] == ["memories/", "sources/"]
    assert answer["left_alone_pct"] == 66.7
    assert done(ws / "repo", "status")["unmatched"]["count"] == 0  # it is not in its own way


def test_what_is_too_deep_to_be_entered_is_refused_by_name(tmp_path: Path) -> None:
    deep = "memory/" + "d/" * 70
    answer = done(
        tmp_path,
        "init",
        "repo",
        "--from",
        workspaces.write(
            tmp_path / "workspace", {"MEMORY.md": OTHER.encode(), f"{deep}a.md": b"- Deep.\n"}
        ),
    )
    (refused,) = answer["ingest"]["refused"]
    assert refused["path"].startswith("memory/d/")
    assert "64 folders deep" in refused["message"]


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        (
            "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n",
            "source-lfs-pointer",
        ),
        (
            "- Rui repairs clocks.\n<<<<<<< ours\n- Clocks tick.\n=======\n- No.\n>>>>>>> theirs\n",
            "source-conflict",
        ),
    ],
)
def test_a_pointer_and_a_conflict_are_no_text_and_the_last_snapshot_stays(
    tmp_path: Path, text: str, rule: str
) -> None:
    repo = begun(tmp_path, {"MEMORY.md": OTHER, "memory/a.md": "- Ida plays the cello daily.\n"})
    before = bodies(repo)
    (tmp_path / "workspace" / "memory" / "a.md").write_text(text)
    ran = done(repo, "run", now=NEXT_DAY)
    assert [(p["path"], p["rule"]) for p in ran["ingest"]["refused"]] == [("memory/a.md", rule)]
    assert bodies(repo) == before


def test_quoted_conflict_markers_are_text(tmp_path: Path) -> None:
    quoted = "```\n<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\n```\n"
    repo = begun(tmp_path, {"MEMORY.md": f"# Git\n\nA conflict looks so:\n\n{quoted}\n{OTHER}"})
    assert "repairs clocks" in bodies(repo)


def test_a_line_that_openclaw_promoted_is_a_text_without_its_score(tmp_path: Path) -> None:
    line = "- Ida always plays the cello before breakfast."
    mark = "[score=0.912 recalls=4 avg=0.71 source=memory/2026-02-11.md:4-5]"
    repo = begun(tmp_path, {"MEMORY.md": f"# Memory\n\n{OTHER}{line} {mark}\n"})
    assert "cello before breakfast" in bodies(repo)
    assert "score=" not in bodies(repo)


def test_a_second_block_of_frontmatter_is_no_text(tmp_path: Path) -> None:
    blocks = (
        "---\ntitle: People\n---\n\n---\nsource: chat about the bakery of Vera\ntags: [a]\n---\n"
    )
    repo = begun(tmp_path, {"memory/people.md": f"{blocks}\n# People\n\n{OTHER}"})
    assert "repairs clocks" in bodies(repo)
    assert "bakery" not in bodies(repo)


# -- a clone that checked nothing out ----------------------------------------------------------


@pytest.fixture
def hub(tmp_path: Path) -> Path:
    begun(tmp_path, {"MEMORY.md": OTHER})
    git(tmp_path, "clone", "-q", "--bare", "repo", "hub.git")
    return tmp_path / "hub.git"


@pytest.mark.parametrize("command", ["init", "run", "status"])
def test_a_clone_without_a_branch_is_told_which_one_holds_the_memory(
    hub: Path, command: str
) -> None:
    git(hub, "symbolic-ref", "HEAD", "refs/heads/none")
    git(hub.parent, "clone", "-q", "hub.git", "clone")
    clone = hub.parent / "clone"
    refused = memrepo(clone, command)
    assert refused.exit != 0
    assert "the branch origin/main contains memrepo.toml" in refused.error["message"]
    assert git(clone, "for-each-ref", "refs/heads") == ""
    git(clone, "merge", "-q", "--ff-only", "origin/main")  # as the fix says
    assert "merge --ff-only origin/main" in refused.error["fix"]
    done(clone, "init")


def test_init_on_another_branch_of_a_memory_repository_is_refused(hub: Path) -> None:
    git(hub.parent, "clone", "-q", "hub.git", "clone")
    clone = hub.parent / "clone"
    git(clone, "switch", "-q", "--orphan", "site")
    git(clone, "commit", "-q", "--allow-empty", "-m", "site", "--no-verify")
    refused = memrepo(clone, "init")
    assert "the branch main contains memrepo.toml" in refused.error["message"]


def test_a_clone_with_nothing_checked_out_is_told_so(hub: Path) -> None:
    git(hub.parent, "clone", "-q", "--no-checkout", "hub.git", "clone")
    clone = hub.parent / "clone"
    refused = memrepo(clone, "init")
    assert "no files are checked out" in refused.error["message"]
    forced = memrepo(clone, "run", "--force")
    assert "no file of sources/ is in the work tree" in forced.error["message"]
    git(clone, "checkout", "-q", "HEAD", "--", ".")
    done(clone, "init")


@pytest.mark.parametrize("command", ["init", "run"])
def test_a_branch_that_lost_its_commit_is_given_it_back_by_the_reflog(
    hub: Path, command: str
) -> None:
    repo = hub.parent / "repo"
    head = git(repo, "rev-parse", "HEAD").strip()
    git(repo, "update-ref", "-d", "refs/heads/main")
    git(repo, "pack-refs", "--all")
    refused = memrepo(repo, command)
    assert f"its reflog has commit {head[:10]}" in refused.error["message"]
    assert f"git update-ref refs/heads/main {head[:10]}" in refused.error["fix"]


# -- conflict markers in the repository ---------------------------------------------------------


def test_conflict_markers_in_a_memory_stop_the_hook_and_are_not_recalled(hub: Path) -> None:
    repo = hub.parent / "repo"
    (memory,) = memories(repo).values()
    path = repo / memory.path
    sides = "<<<<<<< HEAD\nRui repairs clocks.\n=======\nRui repairs radios.\n>>>>>>> other\n"
    path.write_text(path.read_text().replace(memory.body, sides.rstrip("\n")))
    git(repo, "add", "-A")
    staged = memrepo(repo, "check", "--staged")
    git(repo, "commit", "-qm", "merge", "--no-verify")
    for checked in (staged, memrepo(repo, "check")):
        assert checked.exit != 0
        assert "file-conflict" in [p["rule"] for p in checked.data["problems"]]
    assert done(repo, "search", "radios", "--no-touch")["hits"] == []
    assert "file-conflict" in [p["rule"] for p in done(repo, "status")["problems"]]


def test_conflict_markers_in_a_tombstone_stop_the_hook(hub: Path) -> None:
    repo = hub.parent / "repo"
    done(repo, "reject", *memories(repo), "--reason", "it is not so")
    (stone,) = (repo / "tombstones").iterdir()
    stone.write_text(f"{stone.read_text()}<<<<<<< HEAD\na\n=======\nb\n>>>>>>> other\n")
    git(repo, "add", "-A")
    staged = memrepo(repo, "check", "--staged")
    assert staged.exit != 0
    assert "file-conflict" in [p["rule"] for p in staged.data["problems"]]


def test_a_pointer_in_the_place_of_a_memory_is_no_memory(hub: Path) -> None:
    repo = hub.parent / "repo"
    (memory,) = memories(repo).values()
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 120\n"
    (repo / memory.path).write_text(pointer)
    git(repo, "add", "-A")
    assert memrepo(repo, "check", "--staged", "--fix").exit != 0
    assert (repo / memory.path).read_text() == pointer
    git(repo, "commit", "-qm", "pointers", "--no-verify")
    assert [p["rule"] for p in done(repo, "status")["problems"]] == ["file-lfs-pointer"]


def test_a_symlink_is_followed_into_a_folder_that_the_person_named(tmp_path: Path) -> None:
    cloud, other = tmp_path / "cloud" / "agent", tmp_path / "other"
    workspaces.write(cloud, {"people.md": b"- Ada drinks tea at four.\n"})
    workspaces.write(other, {"secret.md": b"- The spare key is under the pot.\n"})
    workspace = workspaces.write(tmp_path / "workspace", {"MEMORY.md": b"- The shed is green.\n"})
    (workspace / "memory").symlink_to(cloud)
    (cloud / "way-out").symlink_to(other)
    done(tmp_path, "init", "repo", "--from", "workspace")
    repo = tmp_path / "repo"
    refused = memrepo(repo, "ingest", as_json=False)
    assert "memrepo config set sources.follow FOLDER" in refused.err
    done(repo, "config", "set", "sources.follow", str(tmp_path / "cloud"))
    assert done(repo, "ingest")["added"] == ["sources/memory/people.md"]
    assert "sources.follow" not in (repo / "memrepo.toml").read_text()
    done(repo, "run")
    assert sorted(m.body for m in memories(repo).values()) == [
        "Ada drinks tea at four.",
        "The shed is green.",
    ]
