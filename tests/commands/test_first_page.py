"""The first page: at most its budget, there also when it is empty, and reading it is an access."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from driving import LATER, NEXT_DAY, NOW, assert_sound, classic, done, git, memories, memrepo

from memrepo.actions.work import Call
from memrepo.core.times import parse_time
from memrepo.faces.mcp.tools import DEFAULT, answer

BULLET = re.compile(r"^- .*←memories/", re.MULTILINE)


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """Return a repository without a workspace."""
    done(tmp_path, "init", "repo")
    return tmp_path / "repo"


def page(repo: Path) -> str:
    return (repo / "MEMORY.md").read_text()


def by_heart(repo: Path, now: str) -> str:
    """Ask for the first page as an agent does."""
    (tool,) = [tool for tool in DEFAULT if tool.name == "memory_hot"]
    reply = answer(Call(where=repo, now=parse_time(now)), tool, {}, "test")
    assert not reply.failed
    return reply.text


def test_the_page_never_holds_more_than_its_budget(repo: Path) -> None:
    ids = [done(repo, "add", f"Locker {n} belongs to rower {n}.")["id"] for n in range(32)]
    for id_ in ids:
        done(repo, "promote", id_, now=LATER)
        assert len(BULLET.findall(page(repo))) <= 30
    assert "2 more are in:" in page(repo), "what is left out is named"
    assert memrepo(repo, "check", "--all").exit == 0
    done(repo, "run", now=NEXT_DAY)
    assert len(BULLET.findall(page(repo))) == 30
    assert_sound(repo)


def test_the_page_stays_when_its_last_bullet_left(repo: Path) -> None:
    id_ = done(repo, "add", "Locker 4 belongs to Ilse.")["id"]
    assert not (repo / "MEMORY.md").exists()
    done(repo, "promote", id_)
    done(repo, "promote", id_, "--off", now=LATER)
    assert BULLET.findall(page(repo)) == []
    assert "Nothing is on it now" in page(repo)
    assert memrepo(repo, "check", "--all").exit == 0
    done(repo, "run", now=NEXT_DAY)
    assert "Nothing is on it now" in page(repo)
    assert git(repo, "status", "--porcelain") == ""
    done(repo, "undo", now=NEXT_DAY)
    done(repo, "promote", id_, now=NEXT_DAY)
    assert len(BULLET.findall(page(repo))) == 1
    assert "Nothing is on it now" not in page(repo)


def test_a_memory_read_on_the_page_is_not_idle(repo: Path) -> None:
    id_ = done(repo, "add", "Locker 4 belongs to Ilse.")["id"]
    other = done(repo, "add", "The pier was built in 1962.")["id"]
    for one in (id_, other):
        done(repo, "promote", one)
    done(repo, "promote", other, "--off", now=LATER)
    for day in range(2, 7):
        now = f"2026-03-0{day}T09:00:00Z"
        done(repo, "session", "start", "--id", f"s{day}", now=now)
        assert "Locker 4" in by_heart(repo, f"2026-03-0{day}T09:01:00Z")
        done(repo, "run", now=f"2026-03-0{day}T23:00:00Z")
    assert len(BULLET.findall(page(repo))) == 1
    for day in range(11, 15):  # a page that is only injected is read by nobody
        done(repo, "session", "start", "--id", f"s{day}", now=f"2026-03-{day}T09:00:00Z")
        done(repo, "run", now=f"2026-03-{day}T23:00:00Z")
    assert BULLET.findall(page(repo)) == []


def test_what_is_critical_stays_so_through_an_import(repo: Path, tmp_path: Path) -> None:
    layers = tmp_path / "layers"
    (layers / "memory").mkdir(parents=True)
    said = "The boat shed is always locked before dark."
    (layers / "memory" / "knowledge.md").write_text(
        f"# Knowledge\n\n- {said}\n- The pier is old.\n"
    )
    (layers / "MEMORY.md").write_text(
        f"# Memory\n\n## Knowledge\n- {said} ↑2026-01-02(critical)←memory/knowledge.md\n"
    )
    done(repo, "import", "layered", layers)
    (memory,) = [m for m in memories(repo).values() if m.body == said]
    assert memory.flag("critical")
    assert "↑2026-01-02(critical)←" in page(repo)
    for day in range(2, 8):
        done(repo, "session", "start", "--id", f"s{day}", now=f"2026-03-0{day}T09:00:00Z")
        memrepo(repo, "run", now=f"2026-03-0{day}T23:00:00Z")
    assert "(critical)" in page(repo)


HOUSE = {
    "USER.md": "# USER.md\n\n- **Name:** Rosa Lind\n- **Timezone:** UTC\n- **Pronouns:**\n\n"
    "## Preferences\n\n- Prefers short answers without headings.\n",
    "IDENTITY.md": "# IDENTITY.md\n\n- **Name:** Pim\n- **Vibe:** calm\n",
    "MEMORY.md": "# Memory\n\n## Hard rules\n\n"
    "- Never order flour without Rosa's approval.\n"
    "- Never give the oven code to visitors.\n"
    "- Never bake rye on Sundays in this bakery.\n\n"
    "## Decisions\n\n- 2026-02-10: Decided to close the second shop in Basel.\n\n"
    "## Open promises\n\n- [ ] Rosa promised to send the mill a sample by 2026-03-20.\n",
    "memory/projects/cargo-bike.md": "# Cargo bike\n\n"
    "Deliveries to the old town go by cargo bike from six in the morning.\n\n"
    "The route book of the bike is kept by the driver, Jona.\n",
}


def bakery(base: Path, **changed: str) -> tuple[Path, Path]:
    """Return a repository, and its workspace of invented pages."""
    workspace = base / "bakery"
    for name, text in {**HOUSE, **changed}.items():
        path = workspace / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    done(base, "init", "repo", "--from", workspace)
    return base / "repo", workspace


def lines(repo: Path) -> dict[str, tuple[str, str]]:
    """Return the text of each bullet with its section and the reason in its tag."""
    found: dict[str, tuple[str, str]] = {}
    section = ""
    for line in page(repo).splitlines():
        if line.startswith("## "):
            section = line[3:]
        elif match := re.fullmatch(r"- (.*) ↑[0-9-]+\((.*?)\)←memories/.*", line):
            found[match[1]] = (section, match[2])
    return found


def session(repo: Path, now: str = NOW) -> str:
    return str(done(repo, "session", "show", now=now)["context"])


def test_the_first_run_composes_the_page(tmp_path: Path) -> None:
    repo, _ = bakery(tmp_path)
    done(repo, "run")
    found = lines(repo)
    assert found["Name: Rosa Lind · Timezone: UTC"] == ("User", "critical"), "no empty field"
    assert found["Name: Pim · Vibe: calm"] == ("Identity", "critical")
    assert found["Never order flour without Rosa's approval."] == ("Rules", "critical")
    assert found["Rosa Lind: Prefers short answers without headings."] == ("Preferences", "sync")
    assert found["Decided to close the second shop in Basel."] == ("Decisions", "sync")
    assert sum(section == "Rules" for section, _ in found.values()) == 3, "all where there is room"
    assert sum(section == "Projects" for section, _ in found.values()) <= 1, "one of a project"
    told = session(repo)
    assert all(text in told for text in found), "a session is shown the same"
    assert told.index("Rosa Lind") < told.index("Pim") < told.index("flour")
    tip = git(repo, "rev-parse", "HEAD")
    done(repo, "run")
    assert git(repo, "rev-parse", "HEAD") == tip, "a second run at one moment proposes nothing"
    assert_sound(repo)


def test_a_line_says_what_it_is_about_where_its_text_does_not(tmp_path: Path) -> None:
    bans = "# Oven\n\n## Never do\n\n- Open it before the bell rings, or the crust tears.\n"
    other = "# IDENTITY.md\n\n- **Name:** Mox\n- **Vibe:** loud and quick\n"
    mill = "# Memory\n\n## Hollow Mill\n\n### Rules\n\n- Orders go out by fax before noon only.\n"
    more = {"OVEN_RULES.md": bans, "helpers/mox/IDENTITY.md": other}
    repo, _ = bakery(tmp_path, **more, **{"MEMORY.md": mill})
    done(repo, "run")
    found = lines(repo)
    assert "Never do: Open it before the bell rings, or the crust tears." in found
    assert "Hollow Mill: Orders go out by fax before noon only." in found, "a rule names its thing"
    assert not any("Mox" in text for text in found), "another agent's profile"
    assert "Name: Pim · Vibe: calm" in found


def test_the_page_follows_what_holds_the_morning_after(tmp_path: Path) -> None:
    repo, workspace = bakery(tmp_path)
    done(repo, "run")
    memory = workspace / "MEMORY.md"
    old = "- 2026-02-10: Decided to close the second shop in Basel.\n"
    new = "- 2026-03-01: Decided to bake without palm oil from now on.\n"
    rule = "\n## Boundaries\n\n- Never lend the van to anyone but Rosa.\n"
    memory.write_text(memory.read_text().replace(old, new) + rule, encoding="utf-8")
    done(repo, "run", now=NEXT_DAY)
    found = lines(repo)
    assert found["Never lend the van to anyone but Rosa."] == ("Rules", "critical")
    assert found["Decided to bake without palm oil from now on."] == ("Decisions", "sync")
    assert not any("Basel" in text for text in found)
    assert "van" in session(repo, NEXT_DAY)
    tip = git(repo, "rev-parse", "HEAD")
    done(repo, "run", now=NEXT_DAY)
    assert git(repo, "rev-parse", "HEAD") == tip
    assert_sound(repo)


def test_a_form_that_nobody_filled_in_is_on_no_page(tmp_path: Path) -> None:
    form = "# USER.md - About Your Human\n\n- **Name:** _(your name)_\n- **Timezone:**\n"
    repo, _ = bakery(tmp_path, **{"USER.md": form})
    done(repo, "run")
    assert "About Your Human" not in page(repo)
    assert "your name" not in page(repo)


def test_what_a_person_takes_off_the_page_stays_off(tmp_path: Path) -> None:
    repo, _ = bakery(tmp_path)
    done(repo, "run")
    (id_,) = [m.id for m in memories(repo).values() if "flour" in m.body]
    done(repo, "promote", id_, "--off", now=LATER)
    done(repo, "run", now=NEXT_DAY)
    assert "flour" not in page(repo)
    assert "flour" not in session(repo, NEXT_DAY)
    assert "oven code" in page(repo)


def test_pins_and_what_was_asked_for_take_the_room_of_the_composition(tmp_path: Path) -> None:
    repo, _ = bakery(tmp_path)
    done(repo, "run")
    asked = [done(repo, "add", f"Shelf {n} holds the tins of size {n}.")["id"] for n in range(25)]
    for id_ in asked:
        done(repo, "promote", id_, "--critical", now=LATER)
    done(repo, "run", now=NEXT_DAY)
    found = lines(repo)
    assert len(found) <= 30
    assert sum(text.startswith("Shelf") for text in found) == 25
    assert "Name: Rosa Lind · Timezone: UTC" in found
    assert_sound(repo)


def test_the_classic_profile_promotes_by_use_only(tmp_path: Path) -> None:
    repo, _ = bakery(tmp_path)
    classic(repo)
    done(repo, "run")
    assert not (repo / "MEMORY.md").exists()
    (id_,) = [m.id for m in memories(repo).values() if "flour" in m.body]
    for day in (2, 3, 4):
        done(repo, "session", "start", "--id", f"s{day}", now=f"2026-03-0{day}T09:00:00Z")
        done(repo, "show", id_, now=f"2026-03-0{day}T09:01:00Z")
    done(repo, "run", now="2026-03-04T23:00:00Z")
    assert [reason for _, reason in lines(repo).values()] == ["3 sessions"]
