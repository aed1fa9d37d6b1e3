"""Every screen and every deed of `memrepo serve`, over HTTP; and who gets nothing."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from datetime import UTC, datetime
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from driving import (
    assert_sound,
    configure,
    done,
    git,
    memories,
    memrepo,
    operations,
    runs,
    subjects,
    waiting,
)
from mornings import BASE, MORNING, NIGHT, PORT, TOKEN
from starlette.testclient import TestClient

from memrepo.actions import status
from memrepo.actions.run.decide import EDITED
from memrepo.core.memory import Memory, Source
from memrepo.core.state import Difference
from memrepo.faces import web
from memrepo.policies.upkeep import Fire, Timetable
from memrepo.views.report import Change, Reason

HOME = "/"


def post(client: TestClient, **form: str) -> Any:
    return client.post(f"{HOME}do", data=form, headers={"origin": BASE})


def text(page: str) -> str:
    """Return what a reader sees of a page."""
    page = re.sub(r"<(style|script).*?</\1>", " ", page, flags=re.S)
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", page)).split())


def begun(base: Path, memory: str, now: str = NIGHT) -> Path:
    """Make a repository beside a workspace with a page, and run once; return its folder."""
    (base / "ws").mkdir(exist_ok=True)
    (base / "ws/MEMORY.md").write_text(memory)
    done(base, "init", "repo", "--from", "ws", now=now)
    done(base / "repo", "run", now=now)
    return base / "repo"


def ids(repo: Path) -> dict[str, str]:
    return {m.body.partition(": ")[2] or m.body: m.id for m in memories(repo).values()}


# -- who gets nothing ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path", ["/", f"{HOME}morning", f"{HOME}memory/mem-0000", "/web.css", "/nope"]
)
@pytest.mark.parametrize(
    ("cookie", "headers"),
    [
        ("", {}),
        ("wrong", {}),
        (TOKEN[:-1], {}),
        (TOKEN, {"host": "evil.example"}),
        (TOKEN, {"host": f"evil.example:{PORT}"}),
        (TOKEN, {"host": "127.0.0.1:1"}),
        (TOKEN, {"host": ""}),
        (TOKEN, {"sec-fetch-site": "cross-site"}),
        (TOKEN, {"sec-fetch-site": "same-site"}),
    ],
)
def test_a_request_without_the_token_or_of_another_host_or_site_gets_nothing(
    repo: Path,
    client_of: Callable[..., TestClient],
    path: str,
    cookie: str,
    headers: dict[str, str],
) -> None:
    client = client_of(repo, let_in=False)
    given = {**headers, **({"cookie": f"memrepo-{PORT}={cookie}"} if cookie else {})}
    answer = client.get(path, headers=given)
    assert answer.status_code == 403
    assert answer.text.startswith("This page opens only with the link") == (not headers)
    assert bool(answer.content) == (not headers)  # whoever asks from elsewhere is told nothing


@pytest.mark.parametrize("token", ["", "wrong", TOKEN + "x", "ü"])
def test_a_link_with_another_token_lets_nobody_in(
    repo: Path, client_of: Callable[..., TestClient], token: str
) -> None:
    client = client_of(repo, let_in=False)
    answer = client.get("/", params={"token": token})
    assert answer.status_code == 403
    assert "`memrepo serve` printed" in answer.text
    assert not client.cookies


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"origin": "null"},
        {"origin": "https://evil.example"},
        {"origin": f"http://127.0.0.1:{PORT + 1}"},
        {"origin": f"http://localhost:{PORT}"},
        {"origin": BASE, "sec-fetch-site": "cross-site"},
    ],
)
def test_a_form_of_another_origin_does_nothing(
    client: TestClient, repo: Path, headers: dict[str, str]
) -> None:
    head = git(repo, "rev-parse", "HEAD")
    form = {"deed": "forget", "id": next(iter(memories(repo)))}
    answer = client.post(f"{HOME}do", data=form, headers=headers)
    assert answer.status_code == 403
    assert "done" not in answer.text.replace("Nothing was done", "")
    assert git(repo, "rev-parse", "HEAD") == head


def test_the_token_goes_into_a_cookie_and_every_answer_has_its_policy(client: TestClient) -> None:
    client.follow_redirects = False
    answer = client.get("/", params={"token": TOKEN})
    assert answer.headers["location"] == "/"
    said = answer.headers["set-cookie"].lower()
    assert "httponly" in said
    assert "samesite=strict" in said
    for path in (f"{HOME}morning", "/web.css", "/web.js", "/nope"):
        headers = client.get(path).headers
        policy = headers["content-security-policy"]
        assert policy.startswith("default-src 'none'")
        assert "unsafe" not in policy
        assert headers["cache-control"] == "no-store"
        assert headers["x-content-type-options"] == "nosniff"
    page = client.get(f"{HOME}morning").text
    assert not re.search(r'(?:src|href)="(?:https?:)?//', page)
    assert " style=" not in page
    assert " onclick=" not in page


# -- the screens -----------------------------------------------------------------------------------


def test_this_morning_shows_what_waits_with_both_wordings_and_evidence(client: TestClient) -> None:
    seen = text(client.get(f"{HOME}morning").text)
    for words in (
        "What came",
        "8 changes wait",
        "A reconciliation is reviewed before it takes effect.",
        "The line was edited: MEMORY.md, line 13, since 2026-03-02.",
        "Mara prefers tea.",
        "Rui leads the billing team.",
        "Rui leads the payments team.",
        "No run is scheduled",
        "What the agent reads first 5 of 30 lines",
    ):
        assert words in seen


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        (EDITED, "The line was edited: MEMORY.md, line 4."),
        ("a newer statement replaced a part of it: Mara prefers tea.", "A newer statement repl"),
    ],
)
def test_a_new_wording_is_explained_by_what_made_it(reason: str, said: str) -> None:
    fields = {"id": "mem-1", "sources": (Source(resource="sources/MEMORY.md", lines=(4, 4)),)}
    old = Memory.of("a.md", fields, body="Mara prefers tea and rye bread.")
    new = old.with_fields({}, "Mara prefers rye bread.")
    found = Difference(kind="reworded", before=old, after=new)
    why = Reason(op="reword", reason=reason, actor="process:memrepo", commit="c")
    sentence = web._card(Change(difference=found, decisions=(why,)))["said"]
    assert sentence.startswith(said)


def test_what_came_last_night_names_notes_after_the_rest(
    tmp_path: Path, client_of: Callable[..., TestClient]
) -> None:
    (tmp_path / "ws/memory").mkdir(parents=True)
    for day in range(1, 9):
        (tmp_path / f"ws/memory/2026-02-0{day}.md").write_text(f"# Day\n\n- Rain, {day} mm.\n")
    repo = begun(tmp_path, "# Memory\n\n- We decided to sell the boat in May.\n", MORNING)
    seen = text(client_of(repo).get(f"{HOME}morning").text)
    came = seen[seen.index("What came") : seen.index("What left")]
    assert came.index("sell the boat") < came.index("Rain, ")


LONG = f"The staging server in Porto {'and its cold spare in the cellar ' * 3}runs Debian"


@pytest.mark.parametrize(
    ("old", "new", "shown"),
    [
        (
            "Mara prefers tea in the morning.",
            "We decided that Mara owns the billing contract.",
            "archived Mara prefers tea in the morning.",
        ),
        ("Mara prefers tea.", "Mara likes her coffee black.", "edited Mara prefers tea. →"),
        (f"{LONG} 11.", f"{LONG} 12.", "edited … Debian 11. → … Debian 12."),
    ],
    ids=["elsewhere", "same place", "edited"],
)
def test_an_edited_line_is_shown_with_both_texts_and_another_line_is_no_edit(
    tmp_path: Path, client_of: Callable[..., TestClient], old: str, new: str, shown: str
) -> None:
    wiki = "The wiki is read only."
    begun(tmp_path, f"# Memory\n\n- {wiki}\n- {old}\n", now=MORNING)
    lines = (wiki, new) if shown.startswith("edited") else (new, wiki)
    (tmp_path / "ws/MEMORY.md").write_text("# Memory\n\n- {}\n- {}\n".format(*lines))
    done(tmp_path / "repo", "run", now="2026-03-04T10:00:00Z")
    page = text(client_of(tmp_path / "repo").get(f"{HOME}morning").text)
    assert shown in page
    assert ("Nothing left." in page) == ("edited" in page) == shown.startswith("edited")


def test_a_page_shows_the_first_changes_of_many_and_names_the_command_for_the_rest(
    client: TestClient, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memrepo.faces.web.MAX_CHANGES", 2)
    run = done(repo, "status")["waiting"][0].removeprefix("run/")
    for page in ("morning", f"change/{run}"):
        shown = client.get(f"{HOME}{page}").text
        assert shown.count('<div class="texts">') == 2
        assert f"more: memrepo diff {run} shows every change" in text(shown)


def test_the_morning_page_names_the_next_run(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    when = datetime(2026, 3, 3, 4, tzinfo=UTC)
    fire = Fire(when=when, name="nightly", mode="incremental")
    planned = Timetable(by="crontab", missed=0, failed=None, next=fire)
    monkeypatch.setattr(status, "timetable", lambda *_: planned)
    assert "next run Tue 2026-03-03 04:00" in text(client.get(f"{HOME}morning").text)


def test_the_morning_lists_the_runs_and_names_a_reverted_one(
    client: TestClient, repo: Path
) -> None:
    page = client.get(f"{HOME}morning").text
    assert "reverted" not in text(page)
    for link in re.findall(r'href="(change/[^"]+)"', page):
        assert client.get(f"{HOME}{link}").status_code == 200
    done(repo, "revert", now=MORNING)
    assert "reverted: not in effect" in text(client.get(f"{HOME}morning").text)


def test_what_people_wrote_themselves_came_last_night_too(client: TestClient, repo: Path) -> None:
    done(repo, "add", "The loom is in the hall.", now=MORNING)
    git(repo, "config", "user.name", "Ben & Okafor")
    git(repo, "config", "user.email", "ben@example.org")
    done(repo, "add", "The raft is in the barn.", now=MORNING)
    done(repo, "forget", ids(repo)["The mail server is called hermes."], now=MORNING)
    page = client.get(f"{HOME}morning").text
    came, left = text(page).partition("What came")[2].split("What left")
    assert "new The raft is in the barn. By you." in came
    assert "new The loom is in the hall. By Test Person." in came
    assert "forgotten The mail server is called hermes." in left
    git(repo, "config", "user.email", "cleo@example.org")
    assert "By Ben &amp; Okafor." in client.get(f"{HOME}morning").text


def test_the_lead_tells_the_night_also_if_a_run_waits(
    tmp_path: Path, client_of: Callable[..., TestClient]
) -> None:
    repo = begun(tmp_path, "# Memory\n\n- The mill is on the Ourthe.\n", MORNING)
    done(repo, "add", "The raft is in the barn.", now=MORNING)
    seen = text(client_of(repo).get(f"{HOME}morning").text)
    assert re.search(r"Last night at \d\d:00: 1 new", seen)
    assert seen.index("new The mill is") < seen.index("new The raft is"), "the night comes first"
    (tmp_path / "ws/MEMORY.md").write_text("# Memory\n\n- The mill is on the Lesse.\n")
    assert memrepo(repo, "run", "--mode", "reconciliation", now=MORNING).exit == 3
    seen = text(client_of(repo).get(f"{HOME}morning").text)
    assert re.search(r"at \d\d:00: 1 new[^;.]*; a full check on 2 Mar, \d\d:00 waits for you", seen)


def test_a_line_of_a_log_that_is_a_memory_came_once(
    tmp_path: Path, client_of: Callable[..., TestClient]
) -> None:
    (tmp_path / "ws/memory").mkdir(parents=True)
    day = "# Day\n\n- We decided to sell the boat in May.\n- Rain, 7 mm.\n"
    (tmp_path / "ws/memory/2026-02-01.md").write_text(day)
    repo = begun(tmp_path, "# Memory\n\n- The mill is on the Ourthe.\n", MORNING)
    came = text(client_of(repo).get(f"{HOME}morning").text).partition("What came")[2]
    came = came.partition("What left")[0]
    assert came.count("sell the boat") == 1
    assert "new log Rain, 7 mm." in came


MILL = "# Memory\n\n- The mill is on the Ourthe.\n- The wifi password is hunter2-Xk9Q2.\n"


def test_the_morning_names_secrets_and_what_was_left_out(
    tmp_path: Path, client_of: Callable[..., TestClient]
) -> None:
    (tmp_path / "ws/letters").mkdir(parents=True)
    (tmp_path / "ws/letters/one.txt").write_text("The mill was sold to the cooperative.\n")
    repo = begun(tmp_path, MILL)
    seen = text(client_of(repo).get(f"{HOME}morning").text)
    left = seen[seen.index("Warnings of the last run") : seen.index("What the agent reads first")]
    assert "MEMORY.md, line 4: found a secret (password)" in left
    assert "letters/" in left
    assert 'claims = ["...", "FILE OR PATTERN"] under [sources]' in left
    assert "hunter2" not in seen


def test_nothing_waits_only_where_the_page_asks_for_nothing(
    tmp_path: Path, client_of: Callable[..., TestClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = begun(tmp_path, "# Memory\n\n- The mill is on the Ourthe.\n")
    seen = text(client_of(repo).get(f"{HOME}morning").text)
    assert "No run is scheduled" in seen
    assert "Nothing waits for you" not in seen
    planned = Timetable(by="crontab", missed=0, failed=None, next=None)
    monkeypatch.setattr(status, "timetable", lambda *_: planned)
    seen = text(client_of(repo).get(f"{HOME}morning").text)
    assert "Nothing waits for you" in seen
    assert "At the command line" not in seen


def test_a_night_without_news_names_the_run_that_the_page_shows(
    repo: Path, client_of: Callable[..., TestClient]
) -> None:
    done(repo, "discard", waiting(repo)[0], now=NIGHT)
    (repo.parent / "ws/MEMORY.md").write_text("# Memory\n\n- The mill is on the Ourthe.\n")
    done(repo, "run", now=NIGHT)
    done(repo, "run", now=MORNING)
    seen = text(client_of(repo).get(f"{HOME}morning").text)
    assert "found nothing new to read. What you see here is from the run before." in seen


def test_marked_memories_have_one_word_and_the_buttons_say_what_they_do(
    tmp_path: Path, client_of: Callable[..., TestClient]
) -> None:
    (tmp_path / "ws").mkdir()
    (tmp_path / "ws/AGENTS.md").write_text("# Rules\n\n- Always lock the shed.\n")
    lines = [f"- The {name} lamp is on shelf {n}.\n" for n, name in enumerate(("red", "blue"))]
    repo = begun(tmp_path, "# Lamps\n\n" + "".join(lines))
    (tmp_path / "ws/MEMORY.md").unlink()
    marked = done(repo, "run", now=MORNING)["marked"]
    assert marked
    client = client_of(repo)
    seen = text(client.get(f"{HOME}morning").text)
    assert f"{len(marked)} memories are marked for removal" in seen
    left = seen[seen.index("What left") : seen.index("marked for removal The lines")]
    assert f"{len(marked)} lines are no longer read first by the agent until you decide" in left
    assert "red lamp" not in left, "it is listed once, where it is decided"
    assert "Nothing left." not in seen
    page, head = client.get(f"{HOME}morning").text, git(repo, "rev-parse", "HEAD").strip()
    assert "Archive all 2? Search no longer finds them." in unescape(page)
    one = page.partition('id="marked"')[2].partition(marked[0])[2].partition("</li>")[0]
    assert forms(one) == {"confirm", "archive"}
    post(client, deed="archive", id=marked[0], back="morning")
    assert memories(repo)[marked[0]].status == "archived"
    post(client, deed="confirm", id=marked[1], back="morning")
    assert "marked for removal The lines" not in text(client.get(f"{HOME}morning").text)
    git(repo, "reset", "-q", "--hard", head)
    answer = post(client, deed="accept", run="removals", back="morning")
    assert said(answer.text).startswith("Archived: search no longer finds them.")
    assert "until you decide" not in text(answer.text)
    assert {memories(repo)[one].status for one in marked} == {"archived"}


def test_notes_on_the_page_of_the_agent_are_shown_without_their_ids(
    tmp_path: Path, client_of: Callable[..., TestClient]
) -> None:
    repo = begun(tmp_path, "# Lamps\n")
    (tmp_path / "ws/memory").mkdir(exist_ok=True)
    log = "# 2026-03-01\n\n## 09:14 Lamps\n\nThe red lamp went to the repair shop.\n"
    (tmp_path / "ws/memory/2026-03-01.md").write_text(log, encoding="utf-8")
    done(repo, "run", now=MORNING)
    seen = text(client_of(repo).get(f"{HOME}morning").text)
    (line,) = re.findall(r"note 09:14 Lamps \([^)]*\):", seen)
    assert "mem-" not in line


def test_one_memory_shows_its_evidence_and_what_happened_to_it(
    client: TestClient, repo: Path
) -> None:
    one = ids(repo)["The mail server is called hermes."]
    seen = text(client.get(f"{HOME}memory/{one}").text)
    for words in (
        "- The mail server is called hermes.",
        "MEMORY.md, line 6",
        "What happened to it",
        "Stated in the source, and worth keeping. By a run.",
    ):
        assert words in seen
    assert client.get(f"{HOME}memory/mem-0000").status_code == 404
    assert "no memory is called" in client.get(f"{HOME}memory/mem-0000").text


def test_the_history_of_a_memory_is_in_words(client: TestClient, repo: Path) -> None:
    id_ = done(repo, "add", "The kiln is in the yard.")["id"]
    done(repo, "promote", id_)
    page = text(client.get(f"{HOME}memory/{id_}").text)
    assert re.search(r"\d Mar Add fact [^.]*\. By you\.", page), page


def test_titles_and_contradictions_have_no_marks_of_markdown(
    client: TestClient, repo: Path
) -> None:
    first = done(repo, "add", "### Kiln\n\nIt burns gas.", now=MORNING)["id"]
    second = done(repo, "add", "**Kiln**: it burns wood.", now=MORNING)["id"]
    done(repo, "link", first, "contradicts", second, now=MORNING)
    page = client.get(f"{HOME}memory/{first}").text
    assert '<h1 dir="auto">Kiln</h1>' in page
    assert "<title>Kiln" in page
    assert "it burns wood." in text(page)
    assert f'href="{second}">open</a>' in page
    seen = text(client.get(f"{HOME}morning").text)
    decide = seen.partition("1 contradiction to decide")[2]
    assert "Kiln" in decide
    assert "###" not in decide.partition("What the agent reads first")[0]
    assert "**" not in decide.partition("What the agent reads first")[0]


def test_a_note_of_one_line_is_shown_below_its_title(client: TestClient, repo: Path) -> None:
    note = ("The kiln door needs a hinge.", "--type", "note", "--title", "2026-03-01")
    id_ = done(repo, "add", *note)["id"]
    page = client.get(f"{HOME}memory/{id_}").text
    assert '<h1 dir="auto">2026-03-01</h1>' in page
    assert "The kiln door needs a hinge." in page.partition('<div class="text"')[2]


MEMO = "# Memory\n\n- The mill is on the Ourthe.\n- {}\n"


def two_runs(base: Path) -> Path:
    """Make a repository with an edit in one run and a new line in the next, six hours later."""
    repo = begun(base, MEMO.format("The kiln in the yard burns gas."), "2026-03-01T05:00:00Z")
    (base / "ws/MEMORY.md").write_text(MEMO.format("The kiln in the yard burns wood."))
    done(repo, "run", now="2026-03-02T03:00:00Z")
    more = MEMO.format("The kiln in the yard burns wood.") + "- We decided to sell the boat.\n"
    (base / "ws/MEMORY.md").write_text(more)
    done(repo, "run", now="2026-03-02T09:00:00Z")
    return repo


def test_last_night_is_every_run_of_the_last_day(
    tmp_path: Path, client_of: Callable[..., TestClient]
) -> None:
    seen = text(client_of(two_runs(tmp_path)).get(f"{HOME}morning").text)
    came = seen[seen.index("What came") : seen.index("What left")]
    assert "new We decided to sell the boat." in came
    assert "edited The kiln in the yard burns gas. → The kiln in the yard burns wood." in came
    assert "The mill is on the Ourthe" not in came, "the first run was two days ago"
    runs = seen[seen.index("In effect") : seen.index("What came")]
    assert runs.count("run of 2 Mar") == 2


def test_what_needs_the_owner_comes_first_as_links(client: TestClient, repo: Path) -> None:
    first = done(repo, "add", "The kiln burns gas.", now=MORNING)["id"]
    second = done(repo, "add", "The kiln burns wood.", now=MORNING)["id"]
    done(repo, "link", first, "contradicts", second, now=MORNING)
    page = client.get(f"{HOME}morning").text
    assert "2 things need you: 8 changes 1 contradiction" in text(page)
    assert page.index("2 things need you") < page.index("What came")
    for target in re.findall(r'href="#([^"]+)"', page):
        assert f'id="{target}"' in page


def test_a_log_that_got_longer_shows_only_its_new_lines(
    tmp_path: Path, client_of: Callable[..., TestClient]
) -> None:
    (tmp_path / "ws/memory").mkdir(parents=True)
    log = tmp_path / "ws/memory/2026-03-01.md"
    log.write_text("# 2026-03-01\n\n## Lamps\n\n- The red lamp went to the repair shop.\n")
    repo = begun(tmp_path, "# Memory\n\n- The mill is on the Ourthe.\n")
    log.write_text(log.read_text() + "- The blue lamp came back from the shop.\n")
    done(repo, "run", now=MORNING)
    client = client_of(repo)
    run = runs(repo)[0]
    seen = text(client.get(f"{HOME}morning").text)
    assert "added to the log of 1 Mar The blue lamp came back from the shop." in seen
    assert "→" not in seen
    seen = text(client.get(f"{HOME}change/{run}").text)
    assert "Added to the log of 1 Mar open + - The blue lamp came back" in seen


def test_a_contradiction_names_who_said_what_and_which_side_is_read(
    tmp_path: Path, client_of: Callable[..., TestClient]
) -> None:
    repo = begun(tmp_path, "# Mara\n\n- Theme of editors: the dark one\n")
    (one,) = memories(repo)
    done(repo, "edit", one, "--text", "Theme of editors: the dark one at night", now=NIGHT)
    (tmp_path / "ws/MEMORY.md").write_text("# Mara\n\n- Theme of editors: the light one\n")
    done(repo, "run", now=MORNING)
    client = client_of(repo)
    for path in ("morning", f"memory/{one}"):
        seen = text(client.get(f"{HOME}{path}").text)
        assert re.search(
            r"you, 2 Mar · the agent reads this one .{0,20}the dark one at night", seen
        )
        assert re.search(r"MEMORY.md, 2 Mar (?!·).{0,20}the light one", seen)
        assert "contested" in seen
    assert re.search(r'in doubt: "[^"]*" is contested by another since', text(client.get("/").text))


def forms(page: str) -> set[str]:
    return set(re.findall(r'name="deed" value="(\w+)"', page))


@pytest.mark.parametrize(
    ("deed", "status", "offered"),
    [
        ("", "active", {"confirm", "pin", "forget", "reject", "edit"}),
        ("archive", "archived", {"restore"}),
        ("forget", "forgotten", {"restore"}),
        ("reject", "rejected", {"reject"}),
        ("supersede", "superseded", {"restore"}),
    ],
)
def test_a_memory_offers_what_its_state_allows(
    client: TestClient, repo: Path, deed: str, status: str, offered: set[str]
) -> None:
    one = done(repo, "add", "The loom is in the hall.", now=MORNING)["id"]
    if deed:
        more = {"supersede": ("The loom is in the barn.",), "reject": ("--reason", "a joke")}
        done(repo, deed, one, *more.get(deed, ()), now=MORNING)
    page = client.get(f"{HOME}memory/{one}").text
    assert f"fact · {status}" in text(page)
    assert forms(page) == offered
    if deed == "reject":
        post(client, deed="reject", id=one, undo="1", back=f"memory/{one}")
        page = client.get(f"{HOME}memory/{one}").text
    if "restore" in forms(page):
        answer = post(client, deed="restore", id=one, back=f"memory/{one}")
        assert "Restored: search finds it again." in said(answer.text)
        assert memories(repo)[one].status == "active"


def test_the_page_of_a_successor_says_what_it_replaced(client: TestClient, repo: Path) -> None:
    old = done(repo, "add", "The loom is in the hall.", now=MORNING)["id"]
    new = done(repo, "supersede", old, "The loom is in the barn.", now=MORNING)["id"]
    for one, other, words in (
        (new, old, "replaced The loom is in the hall."),
        (old, new, "replaced by The loom is in the barn."),
    ):
        page = client.get(f"{HOME}memory/{one}").text
        assert words in text(page)
        assert page.count(f'href="{other}"') == 1


def test_one_change_of_a_run_is_reverted_and_a_reverted_run_offers_nothing(
    tmp_path: Path, client_of: Callable[..., TestClient]
) -> None:
    repo = two_runs(tmp_path)
    run = runs(repo)[0]
    (boat,) = [m.id for m in memories(repo).values() if "boat" in m.body]
    client = client_of(repo)
    page = client.get(f"{HOME}change/{run}").text
    assert "<h1>Run of 2 Mar, " in page
    assert f'name="only" value="{boat}"' in page
    answer = post(client, deed="revert", target=run, only=boat, back=f"change/{run}")
    assert played(answer.text) == [["memrepo", "revert", run, "--memory", boat]]
    assert boat not in memories(repo)
    post(client, deed="revert", target=run, back="morning")
    page = client.get(f"{HOME}change/{run}").text
    assert "Reverted: nothing of it is in effect." in text(page)
    assert forms(page) == set()


def test_a_line_that_came_on_the_page_has_the_reason_of_that(
    client: TestClient, repo: Path
) -> None:
    id_ = done(repo, "add", "The kiln is in the yard.", now=MORNING)["id"]
    commit = done(repo, "promote", id_, now=MORNING)["commit"]
    seen = text(client.get(f"{HOME}change/{commit}").text)
    assert "The kiln is in the yard. User request." in seen


def test_the_page_of_a_waiting_run_decides_about_it(client: TestClient, repo: Path) -> None:
    run = waiting(repo)[0]
    page = client.get(f"{HOME}change/{run}").text
    assert forms(page) == {"accept", "discard"}
    assert "Discard all 8 changes? The agent goes on reading the old lines" in page


@pytest.mark.parametrize(("deed", "word"), [("accept", "accepted"), ("discard", "discarded")])
def test_the_morning_says_what_was_decided(
    client: TestClient, repo: Path, deed: str, word: str
) -> None:
    run = waiting(repo)[0]
    post(client, deed=deed, run=run, back="morning")
    seen = text(client.get(f"{HOME}morning").text)
    assert re.search(rf"The last run on 2 Mar, \d\d:00 was {word}\.", seen)


def test_what_a_person_decided_before_is_folded_and_quoted(
    tmp_path: Path, client_of: Callable[..., TestClient]
) -> None:
    repo = begun(tmp_path, MEMO.format("The kiln in the yard burns gas."))
    (kiln,) = [m.id for m in memories(repo).values() if "kiln" in m.body]
    done(repo, "reject", kiln, "--reason", "a joke", now=NIGHT)
    (tmp_path / "ws/TOOLS.md").write_text("# Tools\n\n- The kiln in the yard burns gas.\n")
    done(repo, "run", now=MORNING)
    page = client_of(repo).get(f"{HOME}morning").text
    assert "1 left out, as you decided before: nothing to do" in text(page)
    assert '"The kiln in the yard burns gas." left out: it says what was rejected.' in text(page)
    assert "Warnings of the last run" not in page


def test_a_search_lists_what_it_finds_and_counts_nothing(client: TestClient, repo: Path) -> None:
    one = ids(repo)["The mail server is called hermes."]
    page = client.get(f"{HOME}search", params={"q": "mail server"}).text
    assert f'href="memory/{one}"' in page
    assert 'value="mail server"' in page
    assert done(repo, "show", one, "--no-touch")["derived"]["retrievals"] == 0
    assert re.search(r"mail server [1-9]\d* found", text(page))
    nothing = client.get(f"{HOME}search", params={"q": "qqzz"}).text
    assert "qqzz 0 found Nothing was found. Try fewer words" in text(nothing)
    assert '<a class="go" href="/morning">Back to this morning</a>' in nothing
    assert "<script>" not in client.get(f"{HOME}search", params={"q": "<script>"}).text
    assert client.get(f"{HOME}search").status_code == 200


def test_a_search_says_what_waits_and_what_is_no_longer_in_effect(
    client: TestClient, repo: Path
) -> None:
    run = waiting(repo)[0]
    page = client.get(f"{HOME}search", params={"q": "wiki server"}).text
    assert "Waits for review new The wiki server is read only." in text(page)
    assert f'href="change/{run}"' in page
    seen = text(client.get(f"{HOME}search", params={"q": "staging server"}).text)
    assert "The staging server runs Debian 11. fact · a change of it waits for review" in seen
    assert "edited The staging server runs Debian 11. → The staging server runs Debian 12" in seen
    assert "called hermes. fact The" in seen, "no change of it waits"
    one = ids(repo)["The mail server is called hermes."]
    done(repo, "reject", one, "--reason", "sold", now=MORNING)
    page = client.get(f"{HOME}search", params={"q": "mail server hermes"}).text
    past = page.partition("No longer in effect")[2]
    assert f'href="memory/{one}"' in past
    assert "called hermes. fact, forgotten" in text(past)


def test_a_page_that_is_not_there_leads_home_and_a_refusal_is_no_success(
    client: TestClient,
) -> None:
    answer = client.get(f"{HOME}nothing")
    assert answer.status_code == 404
    assert 'href="/morning">Back to this morning' in answer.text
    page = post(client, deed="accept", run="nothing").text
    assert 'class="flash refused"' in page


def test_nothing_that_is_looked_at_counts_as_a_retrieval_or_writes(
    client: TestClient, repo: Path
) -> None:
    one = ids(repo)["The mail server is called hermes."]
    refs = git(repo, "for-each-ref")
    for path in ("morning", f"memory/{one}"):
        assert client.get(f"{HOME}{path}").status_code == 200
    assert git(repo, "for-each-ref") == refs
    assert done(repo, "show", one, "--no-touch")["derived"]["retrievals"] == 0


def test_text_of_a_memory_is_never_markup(client: TestClient, repo: Path) -> None:
    evil = "<script>alert(1)</script> <img src=x onerror=alert(2)> \u202e"
    made = done(repo, "add", evil, now=MORNING)["id"]
    for path in ("morning", f"memory/{made}", f"change/{made}"):
        page = client.get(f"{HOME}{path}").text
        page = re.sub(
            r"<textarea.*?</textarea>", "", page, flags=re.S
        )  # what is edited is as it is
        assert "<script>alert" not in page
        assert "<img" not in page
        assert "\u202e" not in page


# -- the deeds -------------------------------------------------------------------------------------


def played(page: str) -> list[list[str]]:
    """Return the commands that a page says were done."""
    told = [unescape(t) for t in re.findall(r"<pre>(.*?)</pre>", page, flags=re.S)]
    return [shlex.split(t.split("\n")[0]) for t in told if t.startswith("memrepo ")]


def said(page: str) -> str:
    """Return the sentences that say what was done."""
    found = re.search(r'role="status" aria-label="What was done">(.*?)</section>', page, re.S)
    return text(found[1]) if found else ""


@pytest.mark.parametrize(("deed", "op"), [("accept", "run"), ("discard", "run")])
def test_a_run_is_taken_or_refused_as_a_whole(
    client: TestClient, repo: Path, deed: str, op: str
) -> None:
    run = waiting(repo)[0]
    answer = post(client, deed=deed, run=run, back="morning")
    assert played(answer.text) == [["memrepo", deed, run]]
    assert operations(repo)[0] == op
    assert waiting(repo) == []
    assert ("Hamburg" in str(ids(repo))) == (deed == "accept")


@pytest.mark.parametrize(
    ("form", "subject", "field"),
    [
        ({"deed": "edit", "text": "The mail server is hermes, in Lyon."}, "Correct ", "body"),
        ({"deed": "pin"}, "Pin ", "pinned"),
        ({"deed": "forget"}, "Forget ", "status"),
        ({"deed": "reject", "reason": "not ours"}, "Reject ", "status"),
        ({"deed": "confirm"}, "Confirm ", "verified"),
    ],
)
def test_what_is_done_to_a_memory_is_one_commit(
    client: TestClient, repo: Path, form: dict[str, str], subject: str, field: str
) -> None:
    one = ids(repo)["The mail server is called hermes."]
    before = memories(repo)[one]
    answer = post(client, id=one, back=f"memory/{one}", **form)
    assert answer.url.path == f"{HOME}memory/{one}"
    assert subjects(repo)[0].startswith(subject)
    assert "human:person@example.org" in git(repo, "log", "-1", "--format=%B")
    after = memories(repo)[one]
    if field == "body":
        assert after.body == form["text"]
    else:
        assert after.fields.get(field) != before.fields.get(field)
    (line,) = played(answer.text)
    assert line[:3] == ["memrepo", form["deed"], one]
    assert 'role="status"' in answer.text
    assert played(client.get(f"{HOME}morning").text) == []  # it is told once
    assert_sound(repo)


def test_a_run_is_reverted_on_its_page(client: TestClient, repo: Path) -> None:
    one = ids(repo)["The mail server is called hermes."]
    run = runs(repo)[0]
    answer = post(client, deed="revert", target=run, back="morning")
    assert answer.url.path == f"{HOME}morning"
    assert subjects(repo)[0].startswith("Revert: Run ")
    assert one not in memories(repo)


def test_a_revert_names_the_later_work_that_stays(client: TestClient, repo: Path) -> None:
    run = runs(repo)[0]
    one = ids(repo)["The mail server is called hermes."]
    done(repo, "edit", one, "--text", "The mail server is called zeus.", now=MORNING)
    answer = post(client, deed="revert", target=run, back="morning")
    assert "later work stays" in answer.text
    assert memories(repo)[one].body == "The mail server is called zeus."


def test_a_contradiction_is_decided_on_the_page(client: TestClient, repo: Path) -> None:
    first = done(repo, "add", "The kiln burns gas.", now=MORNING)["id"]
    second = done(repo, "add", "The kiln burns wood.", now=MORNING)["id"]
    done(repo, "link", first, "contradicts", second, now=MORNING)
    page = client.get(f"{HOME}morning").text
    assert "1 contradiction to decide" in page
    case = re.findall(r"con-[0-9a-f]{16}", page)[0]
    post(client, deed="resolve", id=case, keep=second, back="morning")
    assert memories(repo)[first].status == "superseded"
    assert subjects(repo)[0].startswith("Settle contradiction: ")


@pytest.mark.parametrize("deed", ["discard", "accept", "forget", "edit", "pin", "reject"])
def test_a_button_undoes_what_a_form_did(client: TestClient, repo: Path, deed: str) -> None:
    tree = git(repo, "rev-parse", "HEAD:memories")
    run = waiting(repo)[0]
    fields = {"id": ids(repo)["Mara prefers tea."], "run": run, "text": "No tea.", "reason": "old"}
    page = post(client, deed=deed, back="morning", **fields).text
    target = re.findall(r'name="target" value="([0-9a-f]{40})"', page)
    assert "Undo this" in page
    seen = text(post(client, deed="revert", back="morning", target=target[0]).text)
    assert ("Reverted: it is as it was before" in seen) is (deed not in ("accept", "discard"))
    assert "Undo this" not in seen
    assert git(repo, "rev-parse", "HEAD:memories") == tree
    assert_sound(repo)
    if deed in ("accept", "discard"):
        assert "The run does not wait again" in seen
        assert "was accepted" not in seen
        assert "was discarded" not in seen
        assert "is not in effect: the decision about it was reverted." in seen
        left = "what it proposes again is left out"
        assert (left if deed == "accept" else "reconciliation proposes its changes") in seen
    if deed == "discard":
        again = memrepo(repo, "run", "--mode", "reconciliation", now=MORNING)
        assert again.exit == 3, "it is proposed again"


def test_a_form_of_an_old_page_overwrites_no_later_edit(client: TestClient, repo: Path) -> None:
    id_ = ids(repo)["Mara prefers tea."]
    page = client.get(f"{HOME}memory/{id_}").text
    was = re.findall(r'name="was" value="(.*?)">', page, flags=re.S)[0]
    done(repo, "edit", id_, "--text", "Mara prefers coffee.", now=MORNING)
    new = "Mara prefers tea, no milk."
    form = {"deed": "edit", "id": id_, "text": new, "back": f"memory/{id_}"}
    page = post(client, **form, was=unescape(was)).text
    assert "not done: the text changed since you began" in text(page)
    assert memories(repo)[id_].body == "Mara prefers coffee."
    assert page.count("Mara prefers tea, no milk.") == 1, "the draft is in the form"
    was = re.findall(r'name="was" value="(.*?)">', page, flags=re.S)[0]
    assert "Saved in your words" in text(post(client, **form, was=unescape(was)).text)
    assert memories(repo)[id_].body == "Mara prefers tea, no milk."


def test_an_undo_says_what_it_left(client: TestClient, repo: Path) -> None:
    id_ = ids(repo)["Mara prefers tea."]
    page = post(client, deed="edit", back="morning", id=id_, text="No tea.").text
    target = re.findall(r'name="target" value="([0-9a-f]{40})"', page)[0]
    undo = {"deed": "revert", "back": "morning", "target": target}
    done(repo, "edit", id_, "--text", "Mara prefers coffee.", now=MORNING)
    assert "except where later work changed it" in text(post(client, **undo).text)
    assert memories(repo)[id_].body == "Mara prefers coffee."
    head = git(repo, "rev-parse", "HEAD")
    assert "changes nothing" in text(post(client, **undo).text), "pressed twice"
    assert git(repo, "rev-parse", "HEAD") == head


@pytest.mark.parametrize(
    "form",
    [
        {"deed": "edit", "id": "mem-0000", "text": "x"},
        {"deed": "reject", "id": "mem-0000"},
        {"deed": "accept", "run": "nothing"},
        {"deed": "rm", "id": "x"},
        {},
    ],
)
def test_what_a_verb_refuses_is_told_and_nothing_changes(
    client: TestClient, repo: Path, form: dict[str, str]
) -> None:
    head = git(repo, "rev-parse", "HEAD")
    answer = post(client, back="//evil.example", **form)
    assert answer.url.path == f"{HOME}morning"
    assert "not done" in answer.text or "nothing to do" in answer.text
    assert git(repo, "rev-parse", "HEAD") == head


def test_read_only_offers_no_deed_and_does_none(
    repo: Path, client_of: Callable[..., TestClient]
) -> None:
    client = client_of(repo, read_only=True)
    one = ids(repo)["The mail server is called hermes."]
    for path in ("morning", f"memory/{one}"):
        page = client.get(f"{HOME}{path}").text
        assert 'action="/do"' not in page
        assert "<button" not in page
        assert "<fieldset" not in page
    head = git(repo, "rev-parse", "HEAD")
    answer = post(client, deed="forget", id=one)
    assert answer.status_code == 403
    assert git(repo, "rev-parse", "HEAD") == head


# -- what belongs together, and what the agent was given -------------------------------------------


def test_a_cause_is_one_card_of_the_morning_and_is_answered_at_once(
    tmp_path: Path, client_of: Callable[..., TestClient]
) -> None:
    notes = tmp_path / "workspace"
    notes.mkdir()
    for name in "abc":
        (notes / f"{name}.md").write_text(f"# {name}\n\n- The barn {name} is dry and locked.\n")
    things = ("apples", "bolts", "candles", "dates", "eggs", "figs", "gloves", "hooks", "ink")
    lines = [f"## {t}\n\nThe crate of {t} is kept in the hall and needs a lid.\n" for t in things]
    (notes / "MEMORY.md").write_text("# Stock\n\n" + "\n".join(lines))
    done(tmp_path, "init", "repo", "--from", "workspace", now=NIGHT)
    repo = tmp_path / "repo"
    configure(repo, "run.shelf", "all", now=NIGHT)
    done(repo, "run", now=NIGHT)
    (notes / "MEMORY.md").unlink()
    assert memrepo(repo, "run", "--mode", "reconciliation", now=NIGHT).exit == 3
    client = client_of(repo)
    page = client.get(f"{HOME}morning").text
    assert "Retired, from MEMORY.md, which is gone 9" in text(page)
    assert "and 6 more" in text(page)


@pytest.mark.parametrize(
    ("reason", "sentence"),
    [
        ("`memrepo revert`", "memrepo revert."),
        ("mem-3c80e49b83e6c7f9 is true", "mem-3c80e49b83e6c7f9 is true."),
        ("sources/projects/mill.md no longer states it", "projects/mill.md no longer states it."),
        ("the miller asked for it!", "The miller asked for it!"),
        ("", ""),
    ],
)
def test_a_reason_is_a_sentence_that_keeps_ids_and_paths(reason: str, sentence: str) -> None:
    assert web._sentence_of(reason) == sentence
