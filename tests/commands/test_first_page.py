"""The first page: at most its budget, there also when it is empty, and reading it is an access."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from driving import (
    LATER,
    NEXT_DAY,
    NOW,
    assert_sound,
    classic,
    configure,
    done,
    git,
    memories,
    memrepo,
)

from memrepo.core.memory import CLAIM_TYPES
from memrepo.policies.first_page import ROOM

BULLET = re.compile(r"^- .*←mem.*", re.MULTILINE)


def page(repo: Path) -> str:
    return (repo / "MEMORY.md").read_text()


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
    assert BULLET.findall(page(repo)) == [f"- Locker 4 belongs to Ilse. ←{id_}"]
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
        elif match := re.fullmatch(r"- (.*?) (?:↑[0-9-]+\((.*?)\))?←mem.*", line):
            found[match[1]] = (section, match[2] or "")
    return found


def session(repo: Path, now: str = NOW) -> str:
    return str(done(repo, "session", "show", now=now)["context"])


def test_the_first_run_composes_the_page(tmp_path: Path) -> None:
    repo, _ = bakery(tmp_path)
    done(repo, "run")
    found = lines(repo)
    assert found["Name: Rosa Lind · Timezone: UTC"] == ("User", ""), "no empty field"
    assert found["Name: Pim · Vibe: calm"] == ("Identity", "")
    assert found["Never order flour without Rosa's approval."] == ("Rules", "")
    assert found["Rosa Lind: Prefers short answers without headings."] == ("Preferences", "")
    assert found["Decided to close the second shop in Basel. (2026-02-10)"] == ("Decisions", "")
    assert sum(section == "Rules" for section, _ in found.values()) == 3, "all where there is room"
    assert sum(section == "Projects" for section, _ in found.values()) <= 2, "two of a project"
    told = session(repo)
    assert all(text in told for text in found), "a session is shown the same"
    assert told.index("flour") < told.index("Rosa Lind") < told.index("Pim")
    tip = git(repo, "rev-parse", "HEAD")
    done(repo, "run")
    assert git(repo, "rev-parse", "HEAD") == tip, "a second run at one moment proposes nothing"
    assert_sound(repo)


def test_a_line_says_what_it_is_about_where_its_text_does_not(tmp_path: Path) -> None:
    bans = "# Oven\n\n## Never do\n\n- Open it before the bell rings, or the crust tears.\n"
    other = "# IDENTITY.md\n\n- **Name:** Mox\n- **Vibe:** loud and quick\n"
    mill = "# Memory\n\n## Hollow Mill\n\n### Rules\n\n- Orders go out by fax before noon only.\n"
    mill += "\n### Stones\n\n- Made of basalt and turned by the miller each spring.\n"
    mill += "\n### Wheel Tool Repair\n\n- Jona keeps spare paddles of larch under the stair.\n"
    mill += "- Old grease comes off with warm ash water.\n- Every axle takes one pound of tallow.\n"
    soul = "# SOUL.md\n\n## Vibe\n\n### Strict policy of the till\n\n- Never open it to guests.\n"
    free = "# Tills\n\n## Allowed\n\n- Count the coins of the front till at noon\n"
    more = {"OVEN_RULES.md": bans, "helpers/mox/IDENTITY.md": other, "SOUL.md": soul}
    more["TILL_RULES.md"] = free
    repo, _ = bakery(tmp_path, **more, **{"MEMORY.md": mill})
    done(repo, "run")
    found = lines(repo)
    assert "Never do: Open it before the bell rings, or the crust tears." in found
    assert "Allowed: Count the coins of the front till at noon" in found, "no duty"
    assert "Hollow Mill: Orders go out by fax before noon only." in found, "a rule names its thing"
    assert "Hollow Mill › Stones: Made of basalt and turned by the miller each spring." in found
    repair = [text for text in found if text.startswith("Hollow Mill › Wheel Tool Repair: ")]
    assert len(repair) == 2, "only a short page has a third line of a subject"
    assert "Never open it to guests." in found, "what stands further out is about something else"
    assert not any("Mox" in text for text in found), "another agent's profile"
    assert "Name: Pim · Vibe: calm" in found


def test_what_a_person_takes_off_the_page_stays_off(tmp_path: Path) -> None:
    repo, _ = bakery(tmp_path)
    done(repo, "run")
    (id_,) = [m.id for m in memories(repo).values() if "flour" in m.body]
    done(repo, "promote", id_, "--off", now=LATER)
    done(repo, "run", now=NEXT_DAY)
    assert "flour" not in page(repo)
    assert "flour" not in session(repo, NEXT_DAY)
    assert "oven code" in page(repo)


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


def test_what_was_stored_by_hand_comes_first_and_each_is_a_line(tmp_path: Path) -> None:
    repo, _ = bakery(tmp_path)
    texts = {f"Locker {n} belongs to rower number {n}.": t for n, t in enumerate(CLAIM_TYPES)}
    for text, type_ in texts.items():
        done(repo, "add", text, "--type", type_)
    done(repo, "run")
    assert {text for text, (section, _) in lines(repo).items() if section == "Stored"} == {*texts}
    assert "## Stored" in page(repo).split("## Rules")[0]


def test_two_rules_that_differ_in_a_number_are_two_lines(tmp_path: Path) -> None:
    rules = [f"Never heat the oven {n} above {n}00 degrees at night." for n in (2, 3)]
    text = "# Memory\n\n## Rules\n\n" + "".join(f"- {rule}\n" for rule in rules)
    repo, _ = bakery(tmp_path, **{"MEMORY.md": text})
    done(repo, "run")
    assert {*rules} <= {*lines(repo)}


def test_a_line_names_its_owner_and_code_is_code(tmp_path: Path) -> None:
    text = (
        "# Memory\n\n## Ana\n\n- Prefers short mails.\n- Never eats fish.\n- Prefers tea.\n\n"
        "## Ben\n\n- Prefers long mails.\n\n## Rules\n\n- Never skip `make [all]`.\n"
    )
    other = "# Memory\n\n- Never touch the kiln.\n"
    repo, _ = bakery(tmp_path, **{"MEMORY.md": text, "agents/mox/MEMORY.md": other})
    done(repo, "run")
    found = lines(repo)
    assert {"Ana: Never eats fish.", "Ben: Prefers long mails.", "Never skip `make [all]`."} <= {
        *found
    }
    assert sum(line.startswith("Ana: ") for line in found) == 3, "the page has room"
    assert "kiln" not in page(repo), "the line of another agent"
    assert all(line in session(repo) for line in found)


def test_reading_the_same_sources_again_adds_nothing(tmp_path: Path) -> None:
    sheds = "red blue tall old new wide slow fast long short".split()
    (tmp_path / "workspace").mkdir()
    for house in "abcdefghijkl":
        bans = (
            f"- Never let {letter}{shed}{house} into the {shed} {house}house alone.\n"
            for letter in "qrstuvxyz"
            for shed in sheds
        )
        page = f"# Rules {house}\n\n{''.join(bans)}"
        (tmp_path / "workspace" / f"house-{house}-rules.md").write_text(page, encoding="utf-8")
    done(tmp_path, "init", "repo", "--from", "workspace")
    repo = tmp_path / "repo"
    configure(repo, "run.shelf", "normal")
    done(repo, "run")
    kept = set(memories(repo))
    for day in range(2, 9):
        memrepo(repo, "run", "--mode", "reconciliation", now=f"2026-03-{day:02}T23:00:00Z")
        assert git(repo, "branch", "--list", "run/*").strip() == "", "nothing waits"
        assert set(memories(repo)) == kept


def test_lines_of_the_owners_file_and_dues_of_a_log_name_their_thing(tmp_path: Path) -> None:
    user = "# USER.md - Rosa Lind\n\n- **Name:** Rosa Lind\n\n## Hollow Mill\n\n"
    user += "- A mill for rye and spelt with its own shop in the old town.\n"
    log = "# 2026-02-28\n\n## Pending - mill insurance claim\n\n"
    log += "- Deadline to dispute: March 20, 2026\n"
    repo, _ = bakery(tmp_path, **{"USER.md": user, "memory/2026-02-28.md": log})
    done(repo, "run")
    found = lines(repo)
    assert any(text.startswith("Hollow Mill: A mill for rye and spelt") for text in found)
    assert any("mill insurance claim: Deadline to dispute" in text for text in found)


def test_the_owners_preferences_have_their_places_before_contacts() -> None:
    order = list(ROOM)
    assert max(map(order.index, ("preference", "decision"))) < order.index("contact")


def test_reading_again_makes_no_memory_of_what_another_one_states(tmp_path: Path) -> None:
    said = "Rosa buys all rye flour from the Hollow Mill in Basel"
    files = {
        "USER.md": f"# USER.md\n\n- **Name:** Rosa\n\n## Goals\n\n**Long-term goal**: {said}\n",
        "memory/flour/goals.md": f"# Flour - goals\n\n## Long-term goal\n\n- {said}.\n",
    }
    repo, _ = bakery(tmp_path, **files)
    done(repo, "run")
    (stated,) = [memory for memory in memories(repo).values() if said in memory.body]
    assert len(stated.sources) == 2
    kept = set(memories(repo))
    memrepo(repo, "run", "--mode", "reconciliation", now="2026-03-15T23:00:00Z")
    assert git(repo, "branch", "--list", "run/*").strip() == "", "nothing waits"
    assert set(memories(repo)) == kept


def test_a_line_of_a_projects_file_is_a_project_only_if_it_is_about_it(tmp_path: Path) -> None:
    bike = HOUSE["memory/projects/cargo-bike.md"]
    bike += "\n## Tyres\n\nTyres are pumped with the red pump from the cellar.\n"
    state = "# Memory\n\n## Shop status\n\n### Hollow Mill\n\n- Counter: open to guests\n"
    repo, _ = bakery(tmp_path, **{"memory/projects/cargo-bike.md": bike, "MEMORY.md": state})
    done(repo, "run")
    projects = [text for text, (section, _) in lines(repo).items() if section == "Projects"]
    assert any("old town" in text for text in projects)
    assert not any("red pump" in text for text in projects), "a detail of its file"
    assert "Hollow Mill: Counter: open to guests" in projects, "the state of a thing in MEMORY.md"


def test_a_list_stands_for_its_single_lines(tmp_path: Path) -> None:
    who = (
        "# IDENTITY.md\n\n- **Name:** Pim\n- **Avatar:** _(a path, http(s) URL, or data)_\n\n"
        "## Rules\n\n- DO NOT LIGHT THE OVEN BEFORE ROSA CONFIRMED THE FLOUR IS DRY\n"
    )
    soul = (
        "# SOUL.md\n\n## Oven rules\n\n"
        "- Sweep the hearth each morning with the long broom\n"
        "- DO NOT LIGHT THE OVEN BEFORE ROSA CONFIRMS THAT THE FLOUR IS DRY\n"
        "- Be gentle with the small door\n"
    )
    repo, _ = bakery(tmp_path, **{"IDENTITY.md": who, "SOUL.md": soul})
    done(repo, "run")
    assert page(repo).count("LIGHT THE OVEN") == 1
    assert "long broom" in page(repo), "the whole list"
    assert "Avatar" not in page(repo), "an unfilled field"


def test_rules_of_side_files_leave_room_for_what_a_person_keeps(tmp_path: Path) -> None:
    things = (
        "apron barrel candle drum egg funnel grain honey iron jar kettle ladle mortar nail oil pan"
        " quilt raisin salt tray urn vat whisk yeast zinc brush crate dough flask glove hook ink"
        " knife lemon malt nutmeg oats paddle rope sieve tongs umbrella vinegar wick"
    ).split()
    rooms = "attic barn cellar dairy eaves fold gate hall inn".split()
    many = {
        f"{room}-rules.md": f"# Rules of the {room}\n\n"
        + "".join(
            f"- Never {' '.join(things[at : at + 3])}.\n" for at in range(4 * n, 4 * n + 12, 3)
        )
        for n, room in enumerate(rooms)
    }
    repo, _ = bakery(tmp_path, **many)
    configure(repo, "run.shelf", "normal")
    done(repo, "run")
    found = lines(repo)
    assert sum(section == "Rules" for section, _ in found.values()) <= 16
    assert "Never order flour without Rosa's approval." in found, "a rule of MEMORY.md"


def test_a_rule_that_only_introduces_code_is_left_out(tmp_path: Path) -> None:
    rules = "# Agents\n\n## Rules\n\n- Always run this after each change of the oven:\n"
    rules += "  ```\n  bake --dry\n  ```\n\n- Never bake without `bake --dry` first.\n"
    repo, _ = bakery(tmp_path, **{"AGENTS.md": rules})
    done(repo, "run")
    assert "Never bake without" in page(repo)
    assert "after each change" not in page(repo)


def test_sections_with_equal_lines_about_several_things_are_each_on_the_page(
    tmp_path: Path,
) -> None:
    text = "# Memory\n\n## App status\n" + "".join(
        f"\n### {name}\n- Phone: live in the store\n- Desk: live in the store\n"
        for name in ("Aldergrove", "Brindle", "Cawder")
    )
    repo, _ = bakery(tmp_path, **{"MEMORY.md": text})
    done(repo, "run")
    assert all(f"{name}: Phone" in page(repo) for name in ("Aldergrove", "Brindle", "Cawder"))


def test_a_link_between_notes_stays_one_and_other_markup_does_not(repo: Path) -> None:
    done(
        repo,
        "add",
        "Ana fires the kiln. See [[Kiln 16|the kiln]], ![[a.png]], [x](y).",
        "--critical",
    )
    done(repo, "add", "Bo: [[Kiln]](http://example.org) and <b>.", "--critical")
    done(repo, "add", "[[Lena Brandt]]: fires it, with [[Ole Berg|Ole]]: weekly.", "--critical")
    done(repo, "run", now=LATER)
    text = page(repo)
    assert "- Lena Brandt: fires it, with Ole: weekly." in text
    assert "See [[Kiln 16|the kiln]], !\\[\\[a.png\\]\\], \\[x\\](y)." in text
    assert "\\[\\[Kiln\\]\\](http://example.org) and \\<b>." in text
    assert "[[Kiln 16|the kiln]]" in (repo / "views/LTMEMORY.md").read_text()


def test_pages_at_the_top_are_the_memory_of_a_workspace_without_one(tmp_path: Path) -> None:
    workspace = tmp_path / "camp"
    workspace.mkdir()
    facts = [f"The {word} tent stands by the {word} brook." for word in "red blue old tall".split()]
    facts += [
        f"Cook {word} brings a pot of {word} soup."
        for word in "Ada Ben Cyd Dan Eve Fay Gus Hal".split()
    ]
    text = "# Camp\n\n" + "".join(f"## Part {n}\n\n{fact}\n\n" for n, fact in enumerate(facts))
    (workspace / "CAMP.md").write_text(text, encoding="utf-8")
    kept = []
    for name in ("alone", "with"):
        done(tmp_path, "init", name, "--from", workspace)
        configure(tmp_path / name, "run.shelf", "normal")
        done(tmp_path / name, "run")
        found = [m for m in memories(tmp_path / name).values() if m.type != "note"]
        kept.append(sum("camp" in m.context.lower() for m in found))
        (workspace / "MEMORY.md").write_text("# Memory\n\n- Ada leads the camp.\n")
    assert kept[0] == len(facts) > kept[1]


@pytest.mark.parametrize(
    ("head", "is_title"),
    [
        ("Never open the sluice of the upper weir before Rosa said so, by day or by night", False),
        ("How to treat the sluice", True),
    ],
)
def test_the_page_shows_the_description_of_a_file_for_one_memory(
    tmp_path: Path, head: str, is_title: bool
) -> None:
    header = f"---\nname: weir\ndescription: {head}\ntype: feedback\n---\n\n"
    text = f"{header}Ask Rosa before you open it.\n\n**Why:** it once drowned the lower meadow.\n"
    repo, _ = bakery(tmp_path, **{"memory/weir.md": text})
    done(repo, "run")
    assert head in page(repo)
    assert ("Ask Rosa" in page(repo)) == is_title
    assert "drowned" not in page(repo)


def test_what_is_equally_said_of_two_people_is_said_of_both(tmp_path: Path) -> None:
    for name, town in (("Ana Reis", "Porto"), ("Ines Sol", "Faro")):
        file = tmp_path / f"vault/people/{name.split()[0].lower()}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"# {name}\n\n- Allergic to peanuts.\n- Lives in {town}.\n")
    (tmp_path / "vault/.obsidian").mkdir()
    done(tmp_path, "init", "repo", "--from", "vault")
    done(tmp_path / "repo", "run", now=LATER)
    lines = [line[2:].partition(" ←")[0] for line in page(tmp_path / "repo").splitlines()]
    for told in ("Ana Reis: Allergic to peanuts.", "Ines Sol: Allergic to peanuts."):
        assert told in lines


def test_a_page_line_names_its_person_and_leaves_out_what_a_mark_ends(tmp_path: Path) -> None:
    bread = "- Flour comes from the mill at Lind.\n- (SUPERSEDED) Flour comes from Basel.\n"
    pages = {
        "people/ines.md": "# Ines\n\n- Allergic to bee stings\n- Rosa's sister, a vet\n",
        "MEMORY.md": f"{HOUSE['MEMORY.md']}\n## Flour\n\n{bread}",
    }
    repo, _ = bakery(tmp_path, **pages)
    done(repo, "run")
    found = lines(repo)
    assert found["Ines: Rosa's sister, a vet"] == ("People", "")
    assert "mill at Lind" in page(repo)
    assert "Basel." not in page(repo).partition("Flour")[2]


def test_while_there_is_room_one_heading_or_file_fills_the_page(tmp_path: Path) -> None:
    things = ("The till opens at nine", "Rye comes from Norlux", "The oven runs on gas")
    more = ("Bo has the spare key", "Bills go out on Mondays", "The van is in Lot 4")
    workspace = tmp_path / "agent"
    (workspace / "memory").mkdir(parents=True)
    shown = "".join(f"- {one}.\n" for one in (*things, *more))
    (workspace / "MEMORY.md").write_text(f"# Memory\n\n## Shop\n\n{shown}")
    chosen = ("buy no second oven", "close on Sundays", "bill per month", "hire Bo for the van")
    decided = "".join(f"- We decided to {one}.\n" for one in chosen)
    (workspace / "memory" / "decisions.md").write_text(f"# Decisions\n\n{decided}")
    repo = tmp_path / "memory"
    done(tmp_path, "init", str(repo), "--from", str(workspace))
    done(repo, "run")
    for one in (*things, *more, *chosen):
        assert one in page(repo)


def test_a_callout_and_a_folder_are_named_before_their_text(tmp_path: Path) -> None:
    workspace = tmp_path / "agent"
    (workspace / "projects" / "alder").mkdir(parents=True)
    (workspace / "MEMORY.md").write_text(
        "# Memory\n\n> [!note]- Folded\n> The spare key is with Frau Ott.\n"
    )
    (workspace / "projects" / "alder" / "notes.md").write_text(
        "# Notes\n\n- Never ship on a Friday.\n"
    )
    repo = tmp_path / "memory"
    done(tmp_path, "init", str(repo), "--from", str(workspace))
    done(repo, "run")
    assert "- Folded: The spare key is with Frau Ott." in page(repo)
    assert "- Alder: Never ship on a Friday." in page(repo)


def test_the_newest_state_is_on_the_page_and_an_older_one_leaves_it(tmp_path: Path) -> None:
    older = "## Website status (2026-03-20)\n\n- The shop page is offline.\n\n"
    repo, workspace = bakery(tmp_path, **{"MEMORY.md": f"# Memory\n\n{older}"})
    done(repo, "run")
    assert "The shop page is offline." in page(repo)
    newer = "## Website status (2026-04-20)\n\n- The shop page takes orders.\n\n"
    (workspace / "MEMORY.md").write_text(f"# Memory\n\n{older}{newer}")
    done(repo, "run", now=NEXT_DAY)
    assert "The shop page takes orders." in page(repo)
    assert "The shop page is offline." not in page(repo)


def test_a_decision_of_a_log_replaces_what_an_undated_line_says(tmp_path: Path) -> None:
    memory = "# Memory\n\n## Mill\n\n- Stand-up is at 08:30 in the small room.\n"
    memory += "- The hall key hangs at Ana's desk.\n- Invoices go out on the 5th of each month.\n"
    memory += "- Deliveries leave at 06:15 from the east gate.\n"
    log = "# 2026-02-28\n\n- Decision: the stand-up moves to 09:00 in the small room.\n"
    log += "- Decided that the hall key hangs at Ines's desk.\n"
    log += "- Invoices now go out on the 15th of each month.\n"
    log += "- Deliveries left at 06:40 from the east gate.\n"
    repo, _ = bakery(tmp_path, **{"MEMORY.md": memory, "memory/2026-02-28.md": log})
    done(repo, "run")
    text = page(repo)
    assert [day in text for day in ("09:00", "Ines's desk", "15th")] == [True] * 3
    assert [day in text for day in ("08:30", "Ana's desk", "the 5th of")] == [False, False, False]
    assert "06:15" in text, "what happened on a day decides nothing"


def test_of_two_dated_sections_with_one_title_the_older_states_only_what_was_decided(
    tmp_path: Path,
) -> None:
    memory = "# Memory\n\n## 2026-02-10 Oven inspection\n\n### Findings\n\n"
    memory += "- The left oven is the next to repair.\n\n### Decisions\n\n"
    memory += "- Only Lea Brand lights the right oven.\n\n"
    memory += "## 2026-02-24 Oven inspection\n\n### Findings\n\n"
    memory += "- The bread lift is the next to repair.\n"
    repo, _ = bakery(tmp_path, **{"MEMORY.md": memory})
    done(repo, "run")
    assert "The bread lift is the next to repair." in page(repo)
    assert "The left oven" not in page(repo)
    assert "Only Lea Brand lights the right oven." in page(repo)


def test_upkeep_of_files_and_what_a_proposal_says_are_no_rules(tmp_path: Path) -> None:
    memory = "# Memory\n\n## Offer to the mill (Feb 20, 2026)\n\n"
    memory += "- Flour prices must serve as an estimate, NOT as a promise.\n\n"
    memory += "## Shop\n\n- Loaves must cool for an hour before they are sold.\n"
    agents = "# AGENTS.md\n\n## Rules\n\n- Never load MEMORY.md in group chats.\n"
    agents += "- Never post prices in group chats.\n"
    repo, _ = bakery(tmp_path, **{"MEMORY.md": memory, "AGENTS.md": agents})
    done(repo, "run")
    rules = [text for text, (section, *_) in lines(repo).items() if section == "Rules"]
    assert any("Never post prices in group chats." in text for text in rules)
    assert any("Loaves must cool" in text for text in rules)
    assert not any("estimate" in text or "Never load" in text for text in rules)


def test_what_the_newest_log_says_is_a_line_with_its_day_until_it_is_rejected(
    tmp_path: Path,
) -> None:
    told = "Status: the new hinge works since noon, tested by Lea"
    log = f"# 2026-02-28\n\n## Oven door\n\n- {told}.\n- Rye dough rests for eleven hours.\n"
    repo, _ = bakery(tmp_path, **{"memory/2026-02-28.md": log})
    done(repo, "run")
    line = f"Oven door: {told}. (2026-02-28)"
    assert lines(repo)[line][0] == "Lately"
    assert line in session(repo)
    assert memrepo(repo, "check", "--all").exit == 0
    done(repo, "reject", done(repo, "add", f"{told}.")["id"], "--reason", "not true")
    assert "Oven door" not in page(repo)
    assert "works since noon" not in session(repo)
    assert memrepo(repo, "check", "--all").exit == 0


def test_a_line_of_a_log_leaves_the_page_with_its_note_or_for_projects(tmp_path: Path) -> None:
    log = "# 2026-02-28\n\n## Oven door\n\n- The new hinge works since noon, tested by Lea.\n"
    repo, _ = bakery(tmp_path, **{"memory/2026-02-28.md": log})
    done(repo, "run")
    (note,) = [m.id for m in memories(repo).values() if m.is_note and "hinge" in m.body]
    stays = memrepo(repo, "promote", note, "--off", as_json=False)
    assert "`memrepo forget` takes it off" in stays.out + stays.err
    done(repo, "add", "Sluices are shut.", "--type", "constraint", "--scope", "project:mill")
    for scope in ("project:mill", "project:ship"):
        done(repo, "edit", note, "--set", f"scope={scope}")
        is_shared = scope == "project:mill"
        assert [word in page(repo) for word in ("hinge", "Sluices")] == [is_shared] * 2
    done(repo, "edit", note, "--set", "scope=")
    assert "hinge" in page(repo)
    done(repo, "forget", note)
    assert "hinge" not in page(repo)


def test_a_pinned_memory_and_rules_of_a_plain_page_come_while_there_is_room(tmp_path: Path) -> None:
    files = {
        "About me.md": "# About me\n\n- Never schedule meetings for me on Thursday.\n",
        "Rooms/Cellar.md": "# Cellar\n\n- The cellar key hangs behind the blue door.\n",
    }
    for name, text in files.items():
        path = tmp_path / "vault" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    many = "".join(f"- Shelf {n} of the attic holds box number {n}7.\n" for n in range(12))
    (tmp_path / "vault" / "Attic.md").write_text(f"# Attic\n\n{many}", encoding="utf-8")
    done(tmp_path, "init", "repo", "--from", tmp_path / "vault")
    repo = tmp_path / "repo"
    done(repo, "run")
    assert any("on Thursday" in line for line in lines(repo))
    shelf = next(m for m in memories(repo).values() if m.id not in page(repo) and not m.is_note)
    done(repo, "pin", shelf.id)
    assert shelf.id in session(repo) or shelf.body.strip() in session(repo)
    done(repo, "run", now=NEXT_DAY)
    assert shelf.id in page(repo)
