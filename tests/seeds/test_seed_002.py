"""The promises of the hot cache over full files, row by row: use, tags, demotion, archive."""

from __future__ import annotations

import json
import re
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from driving import classic, configure, copied, done, git, memories, memrepo, subjects
from seed_rows import DAY, HOUR, SECOND, assert_each_row_has_an_end, at, row

LAYERED = ("migrating.md", "Differences from layered-memory-manager")
TAG = re.compile(
    r"- (?P<text>.+) ↑(?P<day>\d{4}-\d\d-\d\d)"
    r"\((?P<reason>\d+ sessions|user request|critical|sync)\)←(?P<source>\S+\.md)(?P<pin>\[pin\])?"
)
FACTS = {
    "boiler": ("The boiler in Moss is from 2019.", ()),
    "rye": ("Ines prefers rye bread for breakfast.", ("--type", "preference")),
    "tiers": ("The team restructured its notes into two tiers.", ("--type", "decision")),
    "keel": ("The keel of the Solveig is of lead.", ()),
    "method": ("To rig the mast, loosen the shrouds first.", ("--type", "method")),
    "name": ("The agent is called Jarvis.", ("--type", "identity")),
}


def test_the_table_is_whole() -> None:
    assert_each_row_has_an_end(sys.modules[__name__], 56)


@pytest.fixture(scope="module")
def _base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("cache")
    (base / "workspace").mkdir()
    done(base, "init", "repo")
    classic(base / "repo")
    for text, options in FACTS.values():
        done(base / "repo", "add", text, *options)
    return base


@pytest.fixture
def repo(_base: Path, tmp_path: Path) -> Path:
    """Return a classic repository of six memories, none of them hot; yours to change."""
    return copied(_base, tmp_path)


def of(repo: Path, word: str) -> Any:
    """Return the memory that a word of the table means, as it is by now."""
    slug = FACTS[word][0].split()[1]
    (found,) = (m for m in memories(repo).values() if m.body.split()[1] == slug)
    return found


def use(repo: Path, word: str, session: str, span: timedelta, times: int = 1) -> None:
    """Begin a session and retrieve a memory in it."""
    done(repo, "session", "start", "--id", session, now=at(span))
    for n in range(times):
        done(repo, "show", of(repo, word).id, now=at(span + n * timedelta(minutes=1)))


def run(repo: Path, span: timedelta) -> Any:
    return done(repo, "run", now=at(span))


def bullets(repo: Path) -> dict[str, re.Match[str]]:
    """Return the bullets of the page by the second word of their text."""
    path = repo / "MEMORY.md"
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    found = [TAG.fullmatch(line) for line in text.splitlines() if line.startswith("- ")]
    assert all(found), text
    return {one["text"].split()[1]: one for one in found if one}


def hygiene(repo: Path) -> Any:
    """Return the live tracker that the last run left."""
    return json.loads((repo / "memory" / "hygiene.json").read_text(encoding="utf-8"))


def key(repo: Path, word: str) -> str:
    memory = of(repo, word)
    return f"{memory.layer}:{memory.path.rsplit('/', 1)[1].removesuffix('.md')}"


def hot(repo: Path, word: str = "boiler") -> None:
    """Bring a memory to the page by use, in three sessions of one day."""
    for n in range(3):
        use(repo, word, f"s{n}", n * HOUR)
    run(repo, 4 * HOUR)


# -- two tiers -------------------------------------------------------------------------------------


@row("the hot page holds condensed memories and points to the full ones", "default")
def test_a_row_page(repo: Path) -> None:
    done(repo, "promote", of(repo, "boiler").id)
    page = (repo / "MEMORY.md").read_text()
    assert "## Knowledge" in page
    assert "→ Full version: `memories/knowledge/`" in page
    assert bullets(repo)["boiler"]["text"] == FACTS["boiler"][0]


@row("full content stays where it is when it is promoted", "default")
def test_a_row_full(repo: Path) -> None:
    before = (repo / of(repo, "boiler").path).read_text()
    hot(repo)
    assert of(repo, "boiler").body == FACTS["boiler"][0]
    assert before.split("---")[2] == (repo / of(repo, "boiler").path).read_text().split("---")[2]


@row("the layers have a live file each in the classic profile", "classic")
def test_a_row_layers(repo: Path) -> None:
    run(repo, HOUR)
    found = {p.stem: p.read_text() for p in (repo / "memory").glob("*.md")}
    assert set(found) == {"identity", "preferences", "knowledge", "decisions", "skills"}
    assert f"- {FACTS['boiler'][0]}" in found["knowledge"]
    assert f"- {FACTS['keel'][0]}" in found["knowledge"]
    done(repo, "forget", of(repo, "name").id, now=at(HOUR))
    done(repo, "edit", of(repo, "keel").id, "--text", "The keel is of cast iron.", now=at(HOUR))
    run(repo, 2 * HOUR)
    assert not (repo / "memory" / "identity.md").exists()
    assert "cast iron" in (repo / "memory" / "knowledge.md").read_text()


@row("a live file that is somebody's own is left alone", "classic")
def test_a_row_layers_foreign(repo: Path) -> None:
    (repo / "memory").mkdir()
    (repo / "memory" / "knowledge.md").write_text("mine\n")
    found = memrepo(repo, "run", now=at(HOUR), as_json=False)
    assert "live-unwritten" in found.err
    assert (repo / "memory" / "knowledge.md").read_text() == "mine\n"


@row("live files are none of the repository's", "classic")
def test_a_row_layers_ignored(repo: Path) -> None:
    run(repo, HOUR)
    assert git(repo, "status", "--porcelain") == ""
    assert "memory/" not in git(repo, "ls-files")


@row("the tracker is a live file in the classic profile", "classic")
def test_a_row_tracker(repo: Path) -> None:
    hot(repo)
    assert set(hygiene(repo)) == {
        *("L1accessLog", "accessLog", "promotionLog", "demotionLog", "archiveQueue")
    }


@row("full content is a file for each layer", "documented", *LAYERED, "one file per memory")
def test_a_row_one_file(repo: Path) -> None:
    assert of(repo, "boiler").path.startswith("memories/knowledge/")


@row("types have the layers of the table", "default")
def test_a_row_layer_of(repo: Path) -> None:
    more = {"relationship": "user", "episode": "context", "commitment": "decisions"}
    for type_, layer in more.items():
        added = done(repo, "add", f"Of type {type_}.", "--type", type_)
        assert added["path"].startswith(f"memories/{layer}/")
    assert {word: of(repo, word).layer for word in FACTS} == {
        "boiler": "knowledge",
        "rye": "preferences",
        "tiers": "decisions",
        "keel": "knowledge",
        "method": "skills",
        "name": "identity",
    }


@row("a layer is added by the first memory in it", "default")
def test_a_row_new_layer(repo: Path) -> None:
    done(repo, "add", "The move to Larvik is planned for May.", "--layer", "context")
    run(repo, HOUR)
    assert "Larvik" in (repo / "memory" / "context.md").read_text()


# -- promotion -------------------------------------------------------------------------------------


@row("three different sessions promote a memory", "default")
def test_a_row_three_sessions(repo: Path) -> None:
    for n in range(2):
        use(repo, "boiler", f"s{n}", n * HOUR)
    run(repo, 2 * HOUR)
    assert bullets(repo) == {}
    use(repo, "boiler", "s2", 3 * HOUR)
    run(repo, 4 * HOUR)
    assert bullets(repo)["boiler"]["reason"] == "3 sessions"


@row("a session counts once, however often it asks", "default")
def test_a_row_once(repo: Path) -> None:
    use(repo, "keel", "s0", HOUR)
    use(repo, "boiler", "s1", 2 * HOUR, times=10)
    run(repo, 3 * HOUR)
    entry = hygiene(repo)["accessLog"][f"memory/{key(repo, 'keel').replace(':', '.md:')}"]
    assert (entry["accessCount"], entry["sessions"]) == (1, ["s0"])
    assert bullets(repo)["boiler"]["reason"] == "1 sessions"


@row("what is needed twice in one session is promoted", "default")
def test_a_row_rapid(repo: Path) -> None:
    use(repo, "boiler", "s0", HOUR, times=2)
    run(repo, 2 * HOUR)
    assert bullets(repo)["boiler"]["reason"] == "1 sessions"


@row("what is critical is promoted", "default")
def test_a_row_critical(repo: Path) -> None:
    done(repo, "promote", of(repo, "name").id, "--critical")
    assert bullets(repo)["agent"]["reason"] == "critical"


@row("what a user asks for is promoted", "default")
def test_a_row_request(repo: Path) -> None:
    done(repo, "promote", of(repo, "rye").id)
    assert bullets(repo)["prefers"]["reason"] == "user request"


@row("a tag has one of four reasons, whatever an import or an old file says", "default")
@pytest.mark.parametrize("reason", ["1 session", "new layer", "because I say so"])
def test_a_row_reasons(repo: Path, reason: str) -> None:
    path = repo / of(repo, "boiler").path
    line = f"hot: {{since: 2026-03-01T09:00:00Z, reason: {reason}}}"
    path.write_text(path.read_text().replace("created:", f"{line}\ncreated:"))
    git(repo, "commit", "-qam", "by hand", "--no-verify")
    run(repo, HOUR)
    assert bullets(repo)["boiler"]["reason"] == "sync"


@row("every entry of the page has a tag with day, reason and source", "default")
def test_a_row_tags(repo: Path) -> None:
    for word in ("boiler", "rye", "tiers"):
        done(repo, "promote", of(repo, word).id)
    found = bullets(repo)
    assert len(found) == 3
    assert found["boiler"]["source"] == of(repo, "boiler").path
    assert found["boiler"]["day"] == "2026-03-01"


@row("a tag names the file of the layer", "documented", *LAYERED, "the memory's own file")
def test_a_row_tag_source(repo: Path) -> None:
    done(repo, "promote", of(repo, "tiers").id)
    assert (repo / bullets(repo)["team"]["source"]).is_file()


@row("a promotion takes the memory out of the log of accesses", "default")
def test_a_row_terminal(repo: Path) -> None:
    hot(repo)
    assert hygiene(repo)["accessLog"] == {}
    assert set(hygiene(repo)["L1accessLog"]) == {key(repo, "boiler")}


@row("a promotion is logged with its day and reason", "default")
def test_a_row_promotion_log(repo: Path) -> None:
    hot(repo)
    (entry,) = hygiene(repo)["promotionLog"]
    name = f"memory/{key(repo, 'boiler').replace(':', '.md:')}"
    assert entry == {
        "entry": name,
        "from": "L2",
        "to": "L1",
        "at": "2026-03-01",
        "reason": "3 sessions",
    }


@row("a bullet is one line without markup of its own", "default")
def test_a_row_condensed(repo: Path) -> None:
    text = "The spare keys lie in two places.\n\n- shed: under the **pot**\n- boat: with Brandt"
    id_ = done(repo, "add", text)["id"]
    done(repo, "promote", id_)
    (said,) = (one["text"] for one in bullets(repo).values())
    assert "two places" in said
    assert said.endswith("shed: under the pot · boat: with Brandt")


@row("an edit of the full content syncs the page in the same commit", "default")
def test_a_row_sync(repo: Path) -> None:
    done(repo, "promote", of(repo, "keel").id)
    before = len(subjects(repo))
    done(repo, "edit", of(repo, "keel").id, "--text", "The keel is of cast iron.", now=at(2 * DAY))
    assert len(subjects(repo)) == before + 1
    found = bullets(repo)["keel"]
    assert (found["text"], found["day"]) == ("The keel is of cast iron.", "2026-03-03")
    assert found["reason"] == "sync"


@row("an edit by hand is reported by check until the page is in step", "default")
def test_a_row_hand_edit(repo: Path) -> None:
    done(repo, "promote", of(repo, "keel").id)
    path = repo / of(repo, "keel").path
    path.write_text(path.read_text().replace("of lead", "of cast iron"))
    git(repo, "add", "-A")
    (staged,) = done(repo, "check", "--staged")["problems"]
    assert (staged["rule"], staged["path"]) == ("hot-stale", of(repo, "keel").path)
    git(repo, "commit", "-qm", "by hand", "--no-verify")
    assert [p["rule"] for p in done(repo, "check")["problems"]] == ["hot-stale"]
    run(repo, DAY)
    assert bullets(repo)["keel"]["text"] == "The keel of the Solveig is of cast iron."
    assert bullets(repo)["keel"]["reason"] == "sync"
    assert done(repo, "check")["problems"] == []


@row("the page is never edited alone: check refuses that", "default")
def test_a_row_page_edited(repo: Path) -> None:
    done(repo, "promote", of(repo, "keel").id)
    path = repo / "MEMORY.md"
    path.write_text(path.read_text().replace("of lead", "of gold"))
    found = memrepo(repo, "check", "MEMORY.md")
    assert found.exit == 1
    assert "hot-edited" in {p["rule"] for p in found.data["problems"]}


# -- budget and eviction ---------------------------------------------------------------------------


@row("the page has a cap of thirty bullets", "default")
def test_a_row_cap(repo: Path) -> None:
    assert done(repo, "config", "hot.budget")["keys"][0]["default"] == 30
    for n in range(31):
        id_ = done(repo, "add", f"Berth{n} Pier{n} is free.")["id"]
        done(repo, "promote", id_, now=at(n * SECOND))
    run(repo, 4 * HOUR)
    assert set(bullets(repo)) == {f"Pier{n}" for n in range(1, 31)}


@row("what was not used for longest is evicted first, then the oldest promotion", "default")
def test_a_row_eviction(repo: Path) -> None:
    for n, word in enumerate(("boiler", "rye", "keel")):
        done(repo, "promote", of(repo, word).id, now=at(n * HOUR))
    use(repo, "boiler", "s0", 4 * HOUR)
    configure(repo, "hot.budget", "2", now=at(5 * HOUR))
    run(repo, 6 * HOUR)
    assert set(bullets(repo)) == {"boiler", "keel"}


@row("critical and pinned entries are never evicted", "default")
def test_a_row_exempt(repo: Path) -> None:
    done(repo, "promote", of(repo, "name").id, "--critical")
    done(repo, "promote", of(repo, "rye").id)
    done(repo, "pin", of(repo, "rye").id)
    done(repo, "promote", of(repo, "keel").id, now=at(HOUR))
    configure(repo, "hot.budget", "2", now=at(2 * HOUR))
    for n in range(5):
        done(repo, "session", "start", "--id", f"s{n}", now=at(n * HOUR + 3 * HOUR))
    run(repo, 10 * HOUR)
    assert set(bullets(repo)) == {"agent", "prefers"}


@row("an entry that three sessions in a row left alone is demoted", "default")
def test_a_row_idle(repo: Path) -> None:
    hot(repo)
    for n in range(2):
        done(repo, "session", "start", "--id", f"t{n}", now=at(DAY + n * HOUR))
    run(repo, DAY + 3 * HOUR)
    assert set(bullets(repo)) == {"boiler"}
    assert hygiene(repo)["L1accessLog"][key(repo, "boiler")]["sessionsSinceAccess"] == 2
    done(repo, "session", "start", "--id", "t2", now=at(DAY + 4 * HOUR))
    run(repo, DAY + 5 * HOUR)
    assert bullets(repo) == {}


@row("the start of a session counts in the live tracker at once", "classic")
def test_a_row_session_start(repo: Path) -> None:
    hot(repo)
    done(repo, "session", "start", "--id", "t0", now=at(DAY))
    assert hygiene(repo)["L1accessLog"][key(repo, "boiler")]["sessionsSinceAccess"] == 1
    done(repo, "show", of(repo, "boiler").id, now=at(DAY + HOUR))
    done(repo, "session", "end", now=at(DAY + 2 * HOUR))
    assert hygiene(repo)["L1accessLog"][key(repo, "boiler")]["sessionsSinceAccess"] == 0


@row("an access sets the count of idle sessions back to none", "default")
def test_a_row_reset(repo: Path) -> None:
    hot(repo)
    done(repo, "session", "start", "--id", "t0", now=at(DAY))
    use(repo, "boiler", "t1", DAY + HOUR)
    run(repo, DAY + 2 * HOUR)
    assert hygiene(repo)["L1accessLog"][key(repo, "boiler")] == {
        "sessionsSinceAccess": 0,
        "lastAccess": "2026-03-02",
        "lastSessionId": "t1",
        "pinned": False,
    }


@row("an entry whose context is over is demoted", "default")
def test_a_row_over(repo: Path) -> None:
    argv = ("--valid-until", "2026-03-03")
    id_ = done(repo, "add", "The yard is closed for repairs.", *argv)["id"]
    done(repo, "promote", id_)
    assert "yard" in bullets(repo)
    run(repo, 4 * DAY)
    assert "yard" not in bullets(repo)


@row("a demotion deletes nothing, and is logged", "default")
def test_a_row_demotion(repo: Path) -> None:
    hot(repo)
    done(repo, "promote", of(repo, "boiler").id, "--off", now=at(5 * HOUR))
    run(repo, 6 * HOUR)
    assert of(repo, "boiler").body == FACTS["boiler"][0]
    assert bullets(repo) == {}
    (entry,) = hygiene(repo)["demotionLog"]
    name = f"memory/{key(repo, 'boiler').replace(':', '.md:')}"
    assert (entry["entry"], entry["from"], entry["to"]) == (name, "L1", "L2")
    assert (entry["at"], bool(entry["reason"])) == ("2026-03-01", True)
    assert hygiene(repo)["L1accessLog"] == {}


@row("a demoted entry returns to the log of accesses with a count of none", "default")
def test_a_row_recount(repo: Path) -> None:
    hot(repo)
    done(repo, "promote", of(repo, "boiler").id, "--off", now=at(5 * HOUR))
    run(repo, 6 * HOUR)
    name = f"memory/{key(repo, 'boiler').replace(':', '.md:')}"
    empty = {"accessCount": 0, "sessions": [], "lastAccess": None}
    assert hygiene(repo)["accessLog"] == {name: empty}
    use(repo, "boiler", "t0", 7 * HOUR)
    run(repo, 8 * HOUR)
    assert hygiene(repo)["accessLog"][name]["accessCount"] == 1


@row(
    "a demotion leaves a note on the page that points to the full content",
    "documented",
    *LAYERED,
    "leaves no note",
)
def test_a_row_demotion_note(repo: Path) -> None:
    done(repo, "promote", of(repo, "keel").id)
    hot(repo)
    done(repo, "promote", of(repo, "boiler").id, "--off", now=at(5 * HOUR))
    assert "boiler" not in (repo / "MEMORY.md").read_text()
    assert "→ Full version: `memories/knowledge/`" in (repo / "MEMORY.md").read_text()


# -- directives ------------------------------------------------------------------------------------


def ask(repo: Path, text: str, span: timedelta = HOUR) -> Any:
    (repo.parent / "said.txt").write_text(text)
    return done(repo, "directives", "../said.txt", now=at(span))


@row("a pin is on the page and in the full content, and counts as an access", "default")
def test_a_row_pin(repo: Path) -> None:
    done(repo, "promote", of(repo, "rye").id)
    ask(repo, f"[[pin:{key(repo, 'rye')}]]", DAY)
    assert bullets(repo)["prefers"]["pin"] == "[pin]"
    assert of(repo, "rye").pinned
    run(repo, DAY + HOUR)
    entry = hygiene(repo)["L1accessLog"][key(repo, "rye")]
    assert (entry["pinned"], entry["lastAccess"]) == (True, "2026-03-02")


@row("a directive promotes at once", "default")
def test_a_row_promote(repo: Path) -> None:
    ask(repo, f"Please [[promote:{key(repo, 'keel')}]].")
    assert bullets(repo)["keel"]["reason"] == "user request"


@row("a directive demotes at once, and the full content stays", "default")
def test_a_row_forget(repo: Path) -> None:
    done(repo, "promote", of(repo, "keel").id)
    ask(repo, f"[[forget:{key(repo, 'keel')}]]")
    assert bullets(repo) == {}
    assert of(repo, "keel").status == "active"


@row("a keyword is a part of a slug or text in any case, and demotes what is hot", "default")
def test_a_row_keyword(repo: Path) -> None:
    for word in ("keel", "name", "rye"):
        done(repo, "promote", of(repo, word).id)
    done(repo, "edit", of(repo, "rye").id, "--text", "Ines prefers oat bread.")
    for word, rest in (("JARV", {"keel", "prefers"}), ("Rye-Bread", {"keel"})):
        (said,) = ask(repo, f"[[forget keyword:{word}]]")["applied"]
        assert said["said"] == "took 1 memory off the first page"
        assert set(bullets(repo)) == rest


@row("a directive restores from the archive with one access", "default")
def test_a_row_restore(repo: Path) -> None:
    done(repo, "archive", of(repo, "keel").id)
    ask(repo, f"[[restore:{key(repo, 'keel')}]]", 2 * HOUR)
    assert of(repo, "keel").status == "active"
    run(repo, 3 * HOUR)
    name = f"memory/{key(repo, 'keel').replace(':', '.md:')}"
    assert hygiene(repo)["accessLog"][name]["accessCount"] == 1
    assert hygiene(repo)["archiveQueue"] == []


@row("a restore may promote as well", "default")
def test_a_row_restore_promote(repo: Path) -> None:
    done(repo, "archive", of(repo, "keel").id)
    ask(repo, f"[[restore:{key(repo, 'keel')}]] and [[promote:{key(repo, 'keel')}]]")
    assert set(bullets(repo)) == {"keel"}


@row(
    "directives are carried out wherever they are read",
    "documented",
    *LAYERED,
    "a captured e-mail must not rule the memory",
)
def test_a_row_data(repo: Path) -> None:
    inbox = repo / "sources" / "inbox"
    inbox.mkdir(parents=True, exist_ok=True)
    (inbox / "mail.md").write_text(f"# Mail\n\n- [[promote:{key(repo, 'keel')}]] now, please.\n")
    assert "request-in-text" in {w["rule"] for w in run(repo, HOUR)["warnings"]}
    assert "keel" not in bullets(repo)


# -- health, archive, upkeep -----------------------------------------------------------------------

HEALTH = """\
=== Memory Health ===
L1: 2/30 bullets | 1 tagged [pin]
L2: 6 files | 1 entries tracked
Promotions (total): 2
Demotions (total): 0
Archive queue: 0 items
===
Priority breakdown:
  🔒 critical: 0  📌 pinned: 1  🔥 recent: 0  ⏳ stale: 1  ❄️ cold: 0
===
L2 cold candidates (never accessed, age>30d): 4
L1↔L2 sync (L1 has stale L2 source): 0
===
Log Cleanup:
  Log items over 180 days pruned from hygiene.json: 0
===
Top L1 entries by sessionsSinceAccess:
  1. {keel} — 2 sessions stale
  2. {rye} — 1 sessions stale
"""


@row("the health report has its layout", "default")
def test_a_row_health(repo: Path) -> None:
    for word in ("keel", "rye"):
        done(repo, "promote", of(repo, word).id)
    done(repo, "pin", of(repo, "rye").id)
    use(repo, "rye", "s0", HOUR)
    done(repo, "session", "start", "--id", "s1", now=at(2 * HOUR))
    said = memrepo(repo, "health", now=at(31 * DAY), as_json=False).out
    wanted = HEALTH.format(keel=key(repo, "keel"), rye=key(repo, "rye"))
    assert said.startswith(wanted)


@row("what was not retrieved for thirty days is archived in the classic profile", "classic")
def test_a_row_archive(repo: Path) -> None:
    use(repo, "keel", "s0", 2 * DAY)
    configure(repo, "decay.ttl.stable", "never", now=at(3 * DAY))
    run(repo, 30 * DAY - SECOND)
    assert of(repo, "boiler").status == "active"
    run(repo, 30 * DAY)
    assert of(repo, "boiler").status == "archived"
    assert of(repo, "keel").status == "active"
    run(repo, 32 * DAY)
    assert of(repo, "keel").status == "archived"


@row("what was demoted is archived after sixty days in the classic profile", "classic")
def test_a_row_archive_demoted(repo: Path) -> None:
    configure(repo, "decay.ttl.stable", "never")
    done(repo, "promote", of(repo, "keel").id)
    done(repo, "promote", of(repo, "keel").id, "--off", now=at(DAY))
    run(repo, 60 * DAY)
    assert of(repo, "keel").status == "active"
    run(repo, 61 * DAY)
    assert of(repo, "keel").status == "archived"


@row(
    "every profile archives what nobody asks for",
    "documented",
    *LAYERED,
    "Nothing is archived because nobody asked for it",
)
def test_a_row_no_archive(repo: Path) -> None:
    configure(repo, "lifecycle.profile", "evidence")
    run(repo, 61 * DAY)
    assert {of(repo, word).status for word in FACTS} == {"active"}


@row("what a user discards is archived and never deleted", "default")
def test_a_row_discard(repo: Path) -> None:
    path = of(repo, "keel").path
    done(repo, "archive", of(repo, "keel").id, "--reason", "discarded")
    assert (repo / path).is_file()
    run(repo, HOUR)
    (entry,) = hygiene(repo)["archiveQueue"]
    name = f"memory/{key(repo, 'keel').replace(':', '.md:')}"
    assert (entry["entry"], entry["archivedAt"]) == (name, "2026-03-01")
    assert "discarded" in entry["reason"]


@row("what is archived moves to a folder of its own", "documented", *LAYERED, "a status")
def test_a_row_archive_place(repo: Path) -> None:
    path = of(repo, "keel").path
    done(repo, "archive", of(repo, "keel").id)
    assert of(repo, "keel").path == path


@row("a search tells of archived memories that match", "default")
def test_a_row_notice(repo: Path) -> None:
    done(repo, "archive", of(repo, "keel").id)
    for words, is_told in (("keel lead", True), ("boiler Moss", False)):
        said = memrepo(repo, "search", *words.split(), as_json=False)
        assert ("archived" in said.out + said.err) == is_told


@row("what is archived for 180 days is listed for a person, and stays", "default")
def test_a_row_review(repo: Path) -> None:
    done(repo, "archive", of(repo, "keel").id)
    assert memrepo(repo, "health", now=at(179 * DAY)).data["review"] == []
    assert memrepo(repo, "health", now=at(180 * DAY + HOUR)).data["review"] == [of(repo, "keel").id]
    run(repo, 400 * DAY)
    assert of(repo, "keel").status == "archived"


@row("log entries of more than 180 days go to a file of their month", "default")
def test_a_row_pruned_log(repo: Path) -> None:
    hot(repo)
    done(repo, "pin", of(repo, "boiler").id, now=at(4 * HOUR))
    run(repo, 180 * DAY)
    assert len(hygiene(repo)["promotionLog"]) == 1
    run(repo, 181 * DAY)
    assert hygiene(repo)["promotionLog"] == []
    old = json.loads((repo / "memory" / "hygiene-log-2026-03.json").read_text())
    assert len(old["promotionLog"]) == 1
    assert len((repo / "memory" / "hygiene.json").read_bytes()) < 50 * 1024


@row("a lost tracker is written again, with every count", "classic")
def test_a_row_lost_tracker(repo: Path) -> None:
    use(repo, "keel", "k", HOUR)
    hot(repo)
    before = hygiene(repo)
    assert [one["accessCount"] for one in before["accessLog"].values()] == [1]
    (repo / "memory" / "hygiene.json").unlink()
    done(repo, "run", now=at(4 * HOUR))
    assert hygiene(repo) == before


@row("a lost page is written again from the full content", "default")
def test_a_row_lost_page(repo: Path) -> None:
    for word in ("keel", "boiler"):
        done(repo, "promote", of(repo, word).id)
    page = (repo / "MEMORY.md").read_text()
    (repo / "MEMORY.md").unlink()
    memrepo(repo, "doctor", "--fix")
    assert (repo / "MEMORY.md").read_text() == page
    # Also where a commit took it away, and without a word by the next run.
    git(repo, "rm", "-q", "MEMORY.md")
    git(repo, "commit", "-qm", "Lose the page", "--no-verify")
    run(repo, HOUR)
    assert (repo / "MEMORY.md").read_text() == page


@row("the page is private: a shared session is not shown it", "default")
def test_a_row_private(repo: Path) -> None:
    done(repo, "promote", of(repo, "rye").id)
    assert "rye bread" in done(repo, "session", "show", "--id", "a")["context"]
    shared = done(repo, "session", "show", "--id", "b", "--audience", "shared")
    assert "rye bread" not in shared["context"]


@row("the agent's instructions ask for a search before acting", "default")
def test_a_row_instructions(repo: Path) -> None:
    said = memrepo(repo, "session", "snippet", as_json=False).out
    below = " ".join(said.partition("## Check yourself before you act")[2].split())
    assert below.startswith("Before anything that changes the world")
    assert "search in the same way for preferences and decisions" in below.partition("##")[0]


@row("a template of the daily log is part of a new repository's package", "default")
def test_a_row_daily(repo: Path) -> None:
    text = (DAILY).read_text()
    assert [line for line in text.splitlines() if line.startswith("## ")] == [
        *("## Summary", "## Key Outcomes", "## Notes")
    ]


DAILY = Path(__file__).resolve().parents[2] / "templates" / "repo" / "daily-log.md"


@row("a directive shows the state of the memory on demand", "default")
def test_a_row_health_directive(repo: Path) -> None:
    found = ask(repo, "How are you? [[memory_health]]")
    assert found["health"]["files"] == len(FACTS)
    assert memrepo(repo, "directives", "../said.txt", as_json=False).out.count("Memory Health") == 1


@row("what is purged is in no live file either", "classic")
def test_a_row_purged(repo: Path) -> None:
    run(repo, HOUR)
    assert "rye bread" in (repo / "memory" / "preferences.md").read_text()
    assert memrepo(repo, "purge", of(repo, "rye").id, now=at(2 * HOUR)).exit in (0, 1)
    assert "rye bread" not in (repo / "memory" / "preferences.md").read_text()


@row("layers are never written into a folder that runs read", "classic")
def test_a_row_workspace(tmp_path: Path) -> None:
    repo = tmp_path / "repo"
    (repo / "memory").mkdir(parents=True)
    (repo / "memory" / "boats.md").write_text("# Boats\n\n- The keel of the Solveig is of lead.\n")
    done(tmp_path, "init", "repo")
    classic(repo)
    done(repo, "run", now=at(HOUR))
    assert any("keel" in m.body for m in memories(repo).values())
    assert sorted(p.name for p in (repo / "memory").iterdir()) == ["boats.md", "hygiene.json"]
    assert done(repo, "run", now=at(2 * HOUR))["counts"].get("memories_new", 0) == 0
