"""What `init` and runs read of a workspace, and that everything else is named."""

from __future__ import annotations

from pathlib import Path

import pytest
import workspaces
from driving import NEXT_DAY, begin, configure, done, files, git, memories, memrepo

from memrepo.read.sources import MAX_PAGES, SourceRules, distilled

LATER = "2026-03-03T09:00:00Z"
OTHER = "- Rui repairs clocks in the cellar of the old school.\n"


def begun(tmp_path: Path, files: dict[str, str]) -> Path:
    given = {name: text.encode() for name, text in files.items()}
    return begin(tmp_path, workspaces.write(tmp_path / "workspace", given))


def bodies(repo: Path) -> str:
    return "\n".join(memory.body for memory in memories(repo).values())


@pytest.mark.parametrize(
    "name",
    [
        *(".claude/memory/people.md", ".claude/memory/MEMORY.md"),
        *(".claude/agent-memory/reviewer/MEMORY.md",),
        *(".claude/projects/-home-rui-shop/memory/people.md",),
        *(".openclaw/workspace/memory/people.md", ".serena/memories/people.md"),
        *(".learnings/LEARNINGS.md", "config/MEMORY.md", "config/USER.md", "config/TOOLS.md"),
        *("a/b/IDENTITY.md", "memory/1/2/3/4/5/6/7/8/9/people.md", "1/2/3/4/5/6/7/8/9/MEMORY.md"),
    ],
)
def test_the_memory_of_an_agent_is_read_wherever_agents_store_it(tmp_path: Path, name: str) -> None:
    text = "- The warehouse in Porto is always locked with the red key.\n"
    repo = begun(tmp_path, {"MEMORY.md": OTHER, name: text})
    assert "red key" in bodies(repo)
    assert done(repo, "status")["unmatched"]["count"] == 0


@pytest.mark.parametrize(
    ("files", "name"),
    [
        ({".obsidian/a.md": "x", ".obsidian/b/c.md": "x"}, ".obsidian/"),
        ({".claude/commands/deploy.md": "x"}, ".claude/commands/"),
        ({".claude/CLAUDE.local.md": "x"}, ".claude/CLAUDE.local.md"),
        ({"app/package.json": "{}", "app/docs/a.md": "x"}, "app/"),
        ({"skills/sing/a.md": "x"}, "skills/sing/a.md"),
        ({"clone/.git/HEAD": "x", "clone/MEMORY.md": "x"}, "clone/"),
        ({"notes/a.org": "x"}, "notes/a.org"),
        ({"memory/a.rst": "x"}, "memory/a.rst"),
        ({"memory/PEOPLE.MD": "x"}, "memory/PEOPLE.MD"),
    ],
)
def test_what_no_pattern_names_is_named(tmp_path: Path, files: dict[str, str], name: str) -> None:
    repo = begun(tmp_path, {"MEMORY.md": OTHER, **files})
    assert done(repo, "status")["unmatched"] == {"count": 1, "paths": [name]}
    again = memrepo(tmp_path, "init", "other", "--from", "workspace", as_json=False)
    assert f"not read: 1 text\n  {name} " in again.out


def test_other_text_is_searched_and_nothing_of_it_distilled(tmp_path: Path) -> None:
    told = "Vesna decided to always store the harvest sheets in the blue cabinet.\n"
    repo = begun(tmp_path, {"MEMORY.md": OTHER, "docs/farm/harvest.md": told})
    done(repo, "run", now=NEXT_DAY)
    assert "harvest" not in bodies(repo)
    assert done(repo, "sources")["searched"] == ["docs/farm/harvest.md"]
    assert "docs/farm/ (1)" in memrepo(repo, "sources", as_json=False).out
    assert "blue cabinet" in memrepo(repo, "search", "harvest sheets", as_json=False).out
    edited = tmp_path / "workspace" / "docs/farm/harvest.md"
    edited.write_text(told.replace("blue", "green"))
    done(repo, "run", now=LATER)
    found = memrepo(repo, "search", "harvest sheets", as_json=False).out
    assert "green cabinet" in found
    assert "blue cabinet" not in found
    configure(repo, "sources.search", [])
    done(repo, "run", now=LATER)
    assert "cabinet" not in memrepo(repo, "search", "harvest sheets", as_json=False).out


@pytest.mark.parametrize("name", ["notes/vesna.md", "projects/farm/plan/vesna.md", "a/people/x.md"])
def test_a_page_in_a_folder_of_notes_becomes_memories(tmp_path: Path, name: str) -> None:
    page = (
        "# Vesna\n\n- **Decision:** Vesna always stores the harvest sheets in the blue cabinet.\n"
    )
    repo = begun(tmp_path, {"MEMORY.md": OTHER, name: page})
    done(repo, "run", now=NEXT_DAY)
    assert "harvest sheets" in bodies(repo)


def test_a_folder_that_the_agent_s_files_name_is_read_and_init_says_so(tmp_path: Path) -> None:
    files = {
        "AGENTS.md": "# Rules\n\n- Notes of people stand in `personen/`, days in `log/`.\n",
        "USER.md": OTHER,
        "personen/vesna.md": "# Vesna\n\n- Vesna keeps the harvest sheets in the blue cabinet.\n",
        "log/2026-03-04.md": "# 2026-03-04\n\n- **Decision:** Jan never sells the old press.\n",
        "archiv/old.md": "# Old\n\n- Vesna lived in Split for a year.\n",
    }
    for name, text in files.items():
        (tmp_path / "agent" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "agent" / name).write_text(text)
    told = memrepo(tmp_path, "init", "memory", "--from", "agent", as_json=False).out
    assert "name log/, personen/: runs distil these pages" in told
    assert "1 more file for search only" in told
    assert "archiv/ (1)" in told
    done(tmp_path / "memory", "run")
    stored = bodies(tmp_path / "memory")
    assert "blue cabinet" in stored
    assert "old press" in stored
    assert "Split" not in stored


def test_a_folder_of_many_pages_is_searched_and_what_was_read_stays(tmp_path: Path) -> None:
    page = (
        "# Vesna\n\n- **Decision:** Vesna always stores the harvest sheets in the blue cabinet.\n"
    )
    repo = begun(tmp_path, {"MEMORY.md": OTHER, "notes/a/vesna.md": page})
    done(repo, "run", now=NEXT_DAY)
    for n in range(MAX_PAGES):
        (tmp_path / f"workspace/notes/a/page {n:03}.md").write_text(f"- Field {n} lies fallow.\n")
    done(repo, "run", now=LATER)
    assert "harvest sheets" in bodies(repo)
    assert "Field 148" in bodies(repo)
    assert "Field 149" not in bodies(repo)
    assert done(repo, "sources")["searched"] == [f"notes/a/page {MAX_PAGES - 1}.md"]
    assert "Field 149 lies" in memrepo(repo, "search", "Field 149 fallow", as_json=False).out


@pytest.mark.parametrize(
    ("pages", "known", "count"), [(151, 0, 150), (300, 200, 200), (150, 0, 150)]
)
def test_at_most_150_pages_are_distilled_beside_those_a_run_has_read(
    pages: int, known: int, count: int
) -> None:
    paths = [f"notes/page {n:03}.md" for n in range(pages)]
    found = distilled(paths, SourceRules(), set(paths[pages - known :]))
    assert len(found) == count
    assert set(paths[pages - known :]) <= set(found)


def test_folders_with_few_files_come_first_and_the_others_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memrepo.store.workspace.MAX_SEARCHED", 3)
    monkeypatch.setattr("memrepo.store.workspace.MAX_SEARCHED_FILE", 100)
    crawl = {f"crawl/{n}.md": "Pages of others.\n" for n in range(3)}
    files = {"docs/a.md": "The mast is red.\n", "docs/b.md": "y" * 101, **crawl}
    repo = begun(tmp_path, {"MEMORY.md": OTHER, **files})
    assert done(repo, "sources")["searched"] == ["docs/a.md"]
    left = {
        f["name"]: f["why"]
        for f in done(tmp_path, "init", "2", "--from", "workspace")["left_alone"]
    }
    assert left["crawl/"] == "has 3 texts, more than `sources.search` takes"
    assert "larger than" in left["docs/b.md"]


@pytest.mark.parametrize(
    ("marks", "is_read"),
    [
        (["app/go.mod"], False),
        (["app/.git/HEAD"], False),
        (["package.json"], False),
        (["package.json", "USER.md"], True),
        ([], True),
    ],
)
def test_documentation_of_code_is_not_read(tmp_path: Path, marks: list[str], is_read: bool) -> None:
    files = dict.fromkeys(marks, "\n")
    repo = begun(tmp_path, {"MEMORY.md": OTHER, "app/docs/api.md": "Call it twice.\n", **files})
    assert done(repo, "sources")["searched"] == ["app/docs/api.md"] * is_read


def test_a_pattern_that_names_it_takes_a_hidden_folder_or_a_repository_in(tmp_path: Path) -> None:
    files = {
        ".diary/deep/a.md": "- The piano is tuned each May by Hanna.\n",
        "clone/.git/HEAD": "x",
        "clone/b.md": "- The boiler is serviced each June by Nils.\n",
    }
    repo = begun(tmp_path, {"MEMORY.md": OTHER, **files})
    assert "Hanna" not in bodies(repo)
    configure(repo, "sources.claims", ["...", ".diary/", "clone/**"])
    done(repo, "run", now=NEXT_DAY)
    assert "Hanna" in bodies(repo)
    assert "Nils" in bodies(repo)
    assert done(repo, "status")["unmatched"]["count"] == 0


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


def test_init_on_another_branch_of_a_memory_repository_is_refused(hub: Path) -> None:
    git(hub.parent, "clone", "-q", "hub.git", "clone")
    clone = hub.parent / "clone"
    git(clone, "switch", "-q", "--orphan", "site")
    git(clone, "commit", "-q", "--allow-empty", "-m", "site", "--no-verify")
    refused = memrepo(clone, "init")
    assert "the branch main contains memrepo.toml" in refused.error["message"]


def test_a_repository_below_its_workspace_reads_the_owners_files_and_never_its_own(
    tmp_path: Path,
) -> None:
    """Decision 50: night after night, nothing that memrepo wrote comes back in."""
    work = tmp_path / "agent"
    (work / "memory").mkdir(parents=True)
    (work / "MEMORY.md").write_text("- Bea never wants calls before 10.\n")
    (work / "memory/2026-01-01.md").write_text("- <private>Mia quits.</private>\n- Bea called.\n")
    (work / "agents/other").mkdir(parents=True)
    memrepo(work / "agents/other", "init", "memory", "--from", str(work), "--tz", "UTC")
    told = memrepo(work, "init", "memory", "--from", ".", "--tz", "UTC", as_json=False).out
    assert "is below the workspace" in told
    assert "memory/ is this repository, of which only your own files are read" in told
    repo = work / "memory"
    config = work / "agents/other/memory/memrepo.toml"
    config.unlink()
    config.symlink_to("nowhere.toml")  # still recognised
    told = memrepo(tmp_path, "init", "third", "--from", config.parent, as_json=False).out
    assert f"note: {config.parent} is a memrepo repository: runs read your own files" in told
    for day in ("01", "02", "03"):
        done(repo, "run", now=f"2026-03-{day}T05:00:00Z")
    read = {p.relative_to(repo / "sources").as_posix() for p in (repo / "sources").rglob("*.md")}
    assert read == {"MEMORY.md", "memory/2026-01-01.md"}
    assert b"Mia" not in b"".join(files(repo).values()).replace(
        (work / "memory/2026-01-01.md").read_bytes(), b""
    )
    assert len(list((repo / "memories/notes").rglob("*.md"))) == 1
    refused = memrepo(repo, "import", "obsidian", str(work / "agents/other/memory"))
    assert refused.exit == 2
    assert "belongs to a memrepo repository" in refused.err


def test_a_log_that_shrank_retires_nothing_and_its_notes_remain(tmp_path: Path) -> None:
    log = "# 2026-03-01\n\n## Talk\n\n- Always run the linter before you push.\n- Jan called.\n"
    repo = begun(tmp_path, {"memory/2026-03-01.md": log})
    done(repo, "run", now="2026-03-01T12:00:00Z")
    known = bodies(repo)
    place = tmp_path / "workspace/memory/2026-03-01.md"
    place.write_text("# 2026-03-01\n\n## Afternoon\n\n- Mia prefers Figma.\n")
    done(repo, "run", now="2026-03-01T23:00:00Z")
    assert all(memory.status == "active" for memory in memories(repo).values())
    assert known in bodies(repo) or all(line in bodies(repo) for line in known.split("\n"))
    place.write_text(f"{log}\n{log}\n## Evening\n\n- Ben left.\n")
    done(repo, "run", now="2026-03-02T23:00:00Z")
    notes = [m.body for m in memories(repo).values() if m.is_note and "Jan called" in m.body]
    assert len(notes) == 1, "a second flush extends the note"


def test_an_archive_or_a_conflict_copy_changes_nothing(tmp_path: Path) -> None:
    old = "# Memory\n\n- The API port is 8080.\n- Mara lives in Ulm.\n"
    repo = begun(tmp_path, {"MEMORY.md": old})
    done(repo, "run", now="2026-03-01T12:00:00Z")
    new = old.replace("8080", "9090").replace("Ulm", "Kiel")
    workspace = tmp_path / "workspace"
    (workspace / "MEMORY.md").write_text(new)
    done(repo, "run", now="2026-03-02T12:00:00Z")
    known = bodies(repo)
    for name in ("MEMORY.sync-conflict-20260303-1200.md", "memory/archive/MEMORY-2026-03-03.md"):
        (workspace / name).parent.mkdir(parents=True, exist_ok=True)
        (workspace / name).write_text(old)
    done(repo, "run", now="2026-03-03T12:00:00Z")
    assert bodies(repo) == known
    assert {m.status for m in memories(repo).values()} == {"active"}


def test_a_private_tag_that_is_never_closed_is_named(tmp_path: Path) -> None:
    work = tmp_path / "agent"
    work.mkdir()
    (work / "MEMORY.md").write_text(
        "# A\n\n- <private> Mia quits.\n- Bea called.\n\n# B\n\n- Oak.\n"
    )
    told = memrepo(tmp_path, "init", "memory", "--from", str(work), as_json=False).err
    assert "MEMORY.md:3" in told
    assert "private tag" in told
    assert "Oak" in (tmp_path / "memory/sources/MEMORY.md").read_text()


def test_a_request_not_to_remember_keeps_its_line_out_of_every_copy(tmp_path: Path) -> None:
    work = tmp_path / "agent"
    workspaces.write(
        work, {"memory/2026-03-07.md": b"# Log\n\nOff the record: Mia quits.\n\nOak.\n"}
    )
    done(tmp_path, "init", "memory", "--from", str(work))
    copy = (tmp_path / "memory/sources/memory/2026-03-07.md").read_text()
    assert "Mia" not in copy
    assert "Oak" in copy


def test_the_first_run_counts_the_files_without_a_memory_and_those_for_search(
    tmp_path: Path,
) -> None:
    topics = {
        f"memory/topic{n}.md": f"# Topic {n}\n\n- Garden {n} has {n} rows.\n" for n in range(2, 5)
    }
    given = {"MEMORY.md": OTHER, "docs/a.md": "The mast is red.\n", **topics}
    workspaces.write(tmp_path / "workspace", {name: text.encode() for name, text in given.items()})
    done(tmp_path, "init", "repo", "--from", "workspace")
    configure(tmp_path / "repo", "run.shelf", "normal")
    shown = memrepo(tmp_path / "repo", "run", as_json=False).out
    assert "1 memory of 4 statements in 4 files" in shown
    assert "3 of these files gave none, 1 more file is for search only" in shown


def test_what_memrepo_printed_elsewhere_gives_no_memory(tmp_path: Path) -> None:
    text = "# Memory\n\n- The warehouse in Porto is always locked with the red key.\n"
    first = begun(tmp_path / "first", {"MEMORY.md": text})
    id_ = next(iter(memories(first)))
    asked = (("show", id_), ("show", id_, "--explain"), ("why", id_), ("search", "warehouse"))
    printed = [memrepo(first, *words, as_json=form).out for words in asked for form in (0, 1)]
    pages = {page.name: page.read_text() for page in (first / "views").glob("*.md")}
    assert sum("red key" in one for one in (*printed, *pages.values())) > len(asked) * 2
    log = "\n\n".join(
        f"## Pasted {n}\n\n{one}" for n, one in enumerate((*printed, *pages.values()))
    )
    quoted = "".join(f"> {line}".rstrip() + "\n" for line in log.split("\n"))
    given = {"MEMORY.md": f"# Memory\n\n{OTHER}", "memory/2026-03-01.md": log, "MEMORY2.md": quoted}
    other = begun(
        tmp_path / "other", given | {f"notes/views/{name}": page for name, page in pages.items()}
    )
    assert "Rui repairs clocks" in bodies(other)
    assert "red key" not in bodies(other)
    assert not done(other, "search", "red key")["passages"]
