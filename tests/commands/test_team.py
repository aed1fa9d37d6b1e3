"""Two people, each with an agent's workspace and a clone, share one memory through a hub."""

from __future__ import annotations

import shutil
from pathlib import Path

import hubs
import pytest
from driving import LATER, NEXT_DAY, done, git, memories, memrepo, runs
from hubs import tip, write

from memrepo.policies.standing import is_retired

TEXTS = {
    "Ada": {
        "MEMORY.md": "# Memory\n\n- Production is karl.\n- Deploys go out on Tuesdays.\n",
        "USER.md": "# USER.md\n\n- Name: Ada Lindqvist\n- Not to be called before 9.\n",
        "AGENTS.md": "# AGENTS.md\n\n- Never push to production without Ada's yes.\n",
    },
    "Ben": {
        "MEMORY.md": "# Memory\n\n- The site uses Svelte.\n- Deploys go out on Tuesdays.\n",
        "USER.md": "# USER.md\n\n- Name: Ben Okafor\n- Allergic to nuts.\n",
        "AGENTS.md": "# AGENTS.md\n\n- Never push to production without Ben's yes.\n",
    },
}


@pytest.fixture(scope="module")
def _ada(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a hub, which Ada has filled, and a clone of it for Ben."""
    base = tmp_path_factory.mktemp("team")
    for name, texts in TEXTS.items():
        for file, text in texts.items():
            write(base / name, file, text)
    git(base, "init", "-q", "--bare", "hub.git")
    done(base, "init", "ada", "--from", base / "Ada")
    git(base / "ada", "remote", "add", "origin", "../hub.git")
    done(base / "ada", "run")
    done(base / "ada", "sync")
    return base


@pytest.fixture
def team(_ada: Path, tmp_path: Path) -> tuple[Path, Path]:
    """Return Ada's clone, set up, and Ben's, which is fresh; yours to change."""
    shutil.copytree(_ada, tmp_path, symlinks=True, dirs_exist_ok=True)
    git(tmp_path / "ada", "config", "memrepo.workspace", str(tmp_path / "Ada"))
    ben = hubs.clone(tmp_path, "ben")
    git(ben, "config", "user.name", "Ben Okafor")
    git(ben, "config", "user.email", "ben@example.org")
    return tmp_path / "ada", ben


def texts(repo: Path) -> set[str]:
    """Return what the memories in recall say."""
    return {
        m.body.strip()
        for m in memories(repo).values()
        if m.status == "active" and not is_retired(m)
    }


def copies(repo: Path) -> dict[str, str]:
    """Return the copied files by name."""
    area = repo / "sources"
    return {p.relative_to(area).as_posix(): p.read_text() for p in sorted(area.rglob("*.md"))}


def test_a_second_workspace_has_a_folder_and_takes_nothing_away(team: tuple[Path, Path]) -> None:
    ada, ben = team
    base, before = ada.parent, texts(ada)
    said = done(base, "init", "ben", "--from", base / "Ben")["warnings"]
    own = folder(ben)
    assert own.startswith("_clones/ben-okafor-")
    assert f"sources/{own}/; if it is the workspace that Test Person copied to" in said[-1]
    write(base / "Ben", "clones/karl.md", "# Karl\n\n- Karl runs Debian.\n")
    done(ben, "run", now=LATER)
    beside = {f"{own}/{name}": text for name, text in TEXTS["Ben"].items()}
    assert copies(ben).items() >= (TEXTS["Ada"] | beside).items()
    assert f"{own}/clones/karl.md" in copies(ben)
    assert texts(ben) > before
    page = (ben / "MEMORY.md").read_text()
    for line in ("Ada's yes", "Ben's yes", "Ada Lindqvist: Not to be", "Ben Okafor: Allergic"):
        assert line in page
    (met,) = [m for m in memories(ben).values() if "Deploys" in m.body]
    assert len(met.files) == 2
    hubs.converge(ben, ada, now=LATER)
    before = tip(ada)
    assert done(ada, "run", now=LATER)["status"] == "skipped"
    assert tip(ada) == before


def folder(repo: Path) -> str:
    """Return the folder of `sources/` for the workspace of a clone."""
    return git(repo, "config", "memrepo.folder").strip()


def test_the_newest_run_of_another_person_is_reverted_only_by_its_name(
    team: tuple[Path, Path],
) -> None:
    ada, ben = team
    base = ada.parent
    (own,) = runs(ada)
    done(base, "init", "ben", "--from", base / "Ben")
    done(ben, "run", now=LATER)
    hubs.converge(ben, ada, now=LATER)
    (newest,) = {*runs(ada)} - {own}
    refused = memrepo(ada, "revert", now=NEXT_DAY)
    assert refused.error["message"] == "the newest run is Ben Okafor's"
    assert refused.error["fix"].count(f"memrepo revert {newest}") == 1
    assert f"`memrepo revert {own}`" in refused.error["fix"]
    assert memrepo(ada, "diff", as_json=False).out.startswith(
        f"{newest}, at the clone of Ben Okafor: "
    )
    git(ben, "config", "user.email", "okafor@example.com")  # another address, the same person
    done(ben, "revert", now=NEXT_DAY)
    write(base / "Ben", "USER.md", TEXTS["Ben"]["USER.md"] + "- Likes tea.\n")
    again = done(ben, "run", now="2026-03-02T10:00:00Z")["warnings"]
    assert any('"Allergic to nuts."' in one["message"] for one in again)
    for query in ("Ben Okafor", "karl"):
        assert "later:" not in memrepo(ben, "search", query, now=NEXT_DAY, as_json=False).out


def test_the_last_operation_of_another_person_is_not_undone_without_its_name(
    team: tuple[Path, Path],
) -> None:
    ada, ben = team
    done(ada.parent, "init", "ben", "--from", ada.parent / "Ben")
    done(ben, "run", now=LATER)
    hubs.converge(ben, ada, now=LATER)
    refused = memrepo(ada, "undo", now=NEXT_DAY)
    assert refused.exit != 0
    assert "is Ben Okafor's" in refused.error["message"]
    assert f"`memrepo revert {git(ada, 'rev-parse', 'HEAD')[:10]}`" in refused.error["fix"]
    done(ada, "add", "The kiln burns wood.", now=NEXT_DAY)
    assert done(ada, "undo", now=NEXT_DAY)["undone"]["op"] == "create"


def test_the_page_says_whose_rules_and_wishes_it_shows(team: tuple[Path, Path]) -> None:
    """Opposite wishes of two people do not compete, and a fact of a thing is nobody's."""
    ada, ben = team
    wishes = {"Ada": "Prefers tables to prose.", "Ben": "Prefers prose to tables."}
    for name, wish in wishes.items():
        text = f"{TEXTS[name]['MEMORY.md']}\n## Preferences\n\n- Never call before 10.\n- {wish}\n"
        write(ada.parent / name, "MEMORY.md", text)
    done(ada, "run", now=LATER)
    alone = (ada / "MEMORY.md").read_text()
    assert "\n- Prefers tables to prose. ←" in alone, "one person needs no name"
    done(ada, "sync", now=LATER)
    git(ben, "pull", "-q")
    done(ada.parent, "init", "ben", "--from", ada.parent / "Ben")
    done(ben, "run", now=NEXT_DAY)
    page = (ben / "MEMORY.md").read_text()
    assert "\n- Ada Lindqvist: Prefers tables to prose. ←" in page
    assert "\n- Ben Okafor: Prefers prose to tables. ←" in page
    assert "\n- The site uses Svelte. ←" in page
    begun = memrepo(ben, "session", "start", "--id", "s", now=NEXT_DAY, as_json=False).out
    assert "- Ben Okafor: Prefers prose to tables. (" in begun
    assert done(ben, "check")["problems"] == []


def test_opposite_decisions_about_a_removal_are_asked_again(team: tuple[Path, Path]) -> None:
    ada, _ = team
    (ada.parent / "Ada/MEMORY.md").unlink()
    done(ada, "run", now=NEXT_DAY)
    marked = done(ada, "status", now=NEXT_DAY)["marked"]
    assert marked
    done(ada, "sync", now=NEXT_DAY)
    other = hubs.clone(ada.parent, "cleo")
    done(ada, "discard", "removals", now="2026-03-02T11:00:00Z")
    done(other, "accept", "removals", now="2026-03-02T12:00:00Z")
    hubs.converge(ada, other, now="2026-03-02T13:00:00Z")
    for repo in (ada, other):
        assert done(repo, "status", now="2026-03-02T14:00:00Z")["marked"] == marked
    done(other, "accept", "removals", now="2026-03-02T14:00:00Z")
    hubs.converge(other, ada, now="2026-03-02T15:00:00Z")
    assert not done(ada, "status", now="2026-03-02T15:00:00Z")["marked"]


@pytest.mark.parametrize("verb", ["accept", "discard"])
def test_a_run_that_waits_in_one_clone_is_decided_in_another(
    team: tuple[Path, Path], verb: str
) -> None:
    ada, ben = team
    done(ben, "init")
    write(ada.parent / "Ada", "USER.md", "# USER.md\n\n- Name: Ada Lindqvist\n- Likes tea.\n")
    waits = memrepo(ada, "run", "--mode", "reconciliation", now=LATER).data
    assert waits["status"] == "held"
    git(ada, "push", "-q", "origin", f"run/{waits['run']}")
    assert git(ada, "rev-parse", "main@{upstream}").strip()  # `sync` has set it, for `git pull`
    git(ben, "fetch", "-q")
    assert waits["run"] in memrepo(ben, "status", as_json=False).out
    assert memrepo(ben, "diff", as_json=False).out.startswith(waits["run"])
    done(ben, verb, now=NEXT_DAY)
    assert ("Likes tea." in texts(ben)) is (verb == "accept")
    assert ("Likes tea." in copies(ben)["USER.md"]) is (verb == "accept")
    done(ben, "run", now=NEXT_DAY)
    assert ("Likes tea." in texts(ben)) is (verb == "accept"), "its line is in the source"
    hubs.converge(ben, ada, now=NEXT_DAY)
    for repo in (ada, ben):
        assert "waits for review" not in memrepo(repo, "status", as_json=False).out
        assert "Likes tea." in copies(repo)["USER.md"]
    assert git(ada, "branch", "--list", "run/*") == ""
    for name in ((), (waits["run"],)):
        said = memrepo(ada, "accept", *name, now=NEXT_DAY).error["message"]
        assert said.endswith(f": Ben Okafor discarded {waits['run']}") is (verb == "discard")


def test_two_agents_of_one_person_that_share_half_their_lines_are_two(
    team: tuple[Path, Path],
) -> None:
    ada, ben = team
    base = ada.parent
    shared = "# Memory\n\n- Deploys go out on Tuesdays.\n"
    lines = "".join(f"- The kiln of shelf {n} is white.\n" for n in range(4))
    write(base / "kiln", "MEMORY.md", shared + lines)
    write(base / "kiln", "AGENTS.md", TEXTS["Ada"]["AGENTS.md"])
    write(base / "kiln", "USER.md", "# USER.md\n\n- Name: Ada Lindqvist\n- She fires on Fridays.\n")
    for key, value in (("name", "Test Person"), ("email", git(ada, "config", "user.email"))):
        git(ben, "config", f"user.{key}", value.strip())
    done(base, "init", "ben", "--from", base / "kiln")
    assert folder(ben).startswith("_clones/")
    assert copies(ben).items() >= TEXTS["Ada"].items()


def test_what_leaves_one_workspace_leaves_only_its_own_folder(team: tuple[Path, Path]) -> None:
    ada, ben = team
    base = ada.parent
    done(base, "init", "ben", "--from", base / "Ben")
    done(ben, "run", now=LATER)
    (base / "Ben").rename(base / "moved")
    write(base / "moved", "MEMORY.md", "# Memory\n\n- The site uses Svelte 5.\n")
    done(base, "init", "ben", "--from", base / "moved", now=NEXT_DAY)
    done(ben, "run", now=NEXT_DAY)
    found = copies(ben)
    assert {name: found[name] for name in TEXTS["Ada"]} == TEXTS["Ada"]
    assert found[f"{folder(ben)}/MEMORY.md"].endswith("Svelte 5.\n")
    assert {"The site uses Svelte 5.", "Deploys go out on Tuesdays."} <= texts(ben)


def test_a_new_clone_of_one_workspace_goes_on_where_the_old_one_was(
    team: tuple[Path, Path],
) -> None:
    ada, ben = team
    base = ada.parent
    desk = hubs.clone(base, "desk")
    write(base / "Ada", "AGENTS.md", "# AGENTS.md\n\n- Never delete a backup.\n")
    write(base / "Ada", "MEMORY.md", TEXTS["Ada"]["MEMORY.md"] + "- The port is 81.\n")
    assert done(base, "init", "desk", "--from", base / "Ada", now=LATER)["warnings"] == []
    assert set(copies(desk)) == set(TEXTS["Ada"])
    done(base, "init", "ben", "--from", base / "Ben", now=LATER)
    hubs.converge(ben, desk, now=LATER)
    git(desk, "config", "user.name", "Ben Okafor")
    git(desk, "config", "user.email", "ben@example.org")
    for key in ("workspace", "folder"):
        git(desk, "config", f"memrepo.{key}", "")
    write(base / "Ben", "MEMORY.md", TEXTS["Ben"]["MEMORY.md"] + "- The port is 80.\n")
    (said,) = done(base, "init", "desk", "--from", base / "Ben", now=LATER)["warnings"]
    assert said == f"another workspace fills sources/: this one is copied to sources/{folder(ben)}/"
    for key in ("workspace", "folder"):
        git(desk, "config", f"memrepo.{key}", "")
    carl = hubs.clone(base, "carl")
    git(carl, "config", "user.name", "Carl")
    git(carl, "config", "user.email", "carl@example.org")
    write(base / "other", "MEMORY.md", "# Memory\n\n- The cat is called Mia.\n")
    (said,) = done(base, "init", "carl", "--from", base / "other", now=LATER)["warnings"]
    assert said.endswith(f"copied to sources/{folder(carl)}/")
    (said,) = done(base, "init", "desk", "--from", base / "other", now=LATER)["warnings"]
    assert f"you copied to sources/{folder(ben)}/: `git rm -r sources/{folder(desk)}/`" in said
    assert f"`git config memrepo.folder {folder(ben)}`" in said


def test_one_person_is_never_asked_whose_workspace_it_is(
    team: tuple[Path, Path], tmp_path: Path
) -> None:
    ada, ben = team
    git(ben, "config", "user.email", git(ada, "config", "user.email").strip())
    git(ben, "config", "memrepo.workspace", str(ada.parent / "Ada"))
    (ada / ".git/memrepo/copied").unlink()
    for repo in (ada, ben):
        for name in TEXTS["Ada"]:
            write(ada.parent / "Ada", name, f"# {name}\n\n- The {repo.name} is red.\n")
        done(repo, "run", now=LATER)
        hubs.converge(repo, now=LATER)
    shop = tmp_path / "shop"
    write(shop, "MEMORY.md", "# Memory\n\n- The shop sells tea.\n")
    git(shop, "init", "-q")
    git(shop, "add", ".")
    git(shop, "commit", "-qm", "shop")
    done(shop, "init", ".", "--from", ".")
    git(tmp_path, "clone", "-q", shop, "again")
    git(tmp_path / "again", "config", "user.email", "ben@example.org")
    write(tmp_path / "again", "MEMORY.md", "# Memory\n\n- The shop sells rye.\n")
    for command in (("init", ".", "--from", "."), ("run",)):
        done(tmp_path / "again", *command, now=LATER)
    assert "_clones" not in " ".join(copies(tmp_path / "again"))


def test_a_run_never_replaces_what_another_clone_copied(team: tuple[Path, Path]) -> None:
    ada, ben = team
    base = ada.parent
    git(ben, "config", "memrepo.workspace", "../Ben")
    for verb in ("run", "ingest"):
        refused = memrepo(ben, verb, now=LATER)
        assert refused.exit == 3
        assert "the workspace of Test Person" in refused.error["message"]
        assert f"memrepo init --from {ben / '../Ben'}" in refused.error["fix"]
    assert copies(ben) == TEXTS["Ada"]
    done(ben, "init", "--from", base / "Ben", now=LATER)
    done(ben, "run", now=LATER)
    assert "Never push to production without Ada's yes." in texts(ben)
    git(ben, "config", "memrepo.folder", ".")
    done(ben, "ingest", now=NEXT_DAY)
    assert copies(ben).items() >= TEXTS["Ben"].items()


def test_the_scope_of_one_project_is_not_that_of_the_folder_of_a_clone(
    team: tuple[Path, Path],
) -> None:
    ada, ben = team
    base = ada.parent
    done(base, "init", "ben", "--from", base / "Ben")
    done(ben, "run", now=LATER)
    hubs.converge(ben, ada, now=LATER)
    for repo, name in ((ada, "Ada"), (ben, "Ben")):
        done(repo, "agent", "install", "claude-code", "--into", base / name, now=NEXT_DAY)
        hubs.converge(repo, ada, now=NEXT_DAY)
        hubs.converge(repo, ben, now=NEXT_DAY)
    write(base / "Ben", "MEMORY.md", TEXTS["Ben"]["MEMORY.md"] + "- The port is 80.\n")
    done(ben, "run", now="2026-03-02T10:00:00Z")
    scopes = {m.body.strip(): m.scope for m in memories(ben).values()}
    assert scopes["Production is karl."] == "project:ada"
    assert not scopes["The site uses Svelte."]
    assert not scopes["The port is 80."]


@pytest.mark.parametrize(
    ("words", "status"),
    [(["supersede", "{}", "Production is olga."], "superseded"), (["forget", "{}"], "forgotten")],
)
def test_what_ended_otherwise_is_not_brought_back_by_one_who_keeps_the_mark(
    team: tuple[Path, Path], words: list[str], status: str
) -> None:
    ada, _ = team
    (ada.parent / "Ada/MEMORY.md").unlink()
    done(ada, "run", now=NEXT_DAY)
    (id_,) = [m.id for m in memories(ada).values() if "karl" in m.body]
    done(ada, "sync", now=NEXT_DAY)
    other = hubs.clone(ada.parent, "cleo")
    done(ada, *(word.format(id_) for word in words), now="2026-03-02T11:00:00Z")
    done(other, "confirm", id_, now="2026-03-02T12:00:00Z")
    hubs.converge(ada, other, now="2026-03-02T13:00:00Z")
    assert memories(ada)[id_].status == status
    assert done(ada, "check")["problems"] == []
