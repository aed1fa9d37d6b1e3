"""What becomes of what is known when a later night says otherwise."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from driving import done, memories

FILL = ("Tax papers are in the grey box.", "The bicycle pump hangs in the shed.")
DAYS = [f"2026-04-{day:02}" for day in range(1, 8)]


def at(day: str) -> str:
    """Return four o'clock of a day."""
    return f"{day}T04:00:00Z"


class Nights:
    """A workspace and its repository, night by night."""

    def __init__(self, base: Path, *lines: str) -> None:
        self.workspace, self.repo = base / "agent", base / "memory"
        (self.workspace / "memory").mkdir(parents=True, exist_ok=True)
        self.night(DAYS[0], *lines, first=base)

    def night(self, day: str, *lines: str, log: str = "", first: Path | None = None) -> Any:
        """Write MEMORY.md anew, and a log where one is given, and run."""
        body = "\n".join(
            line if line.startswith(("- ", "#")) else f"- {line}" for line in (*lines, *FILL)
        )
        (self.workspace / "MEMORY.md").write_text(f"# Memory\n\n{body}\n", encoding="utf-8")
        if log:
            path = self.workspace / "memory" / f"{day}.md"
            path.write_text(f"# {day}\n\n- {log}\n", encoding="utf-8")
        if first:
            done(first, "init", "memory", "--from", "agent", now=at(day))
        return done(self.repo, "run", now=at(day))

    def hits(self, question: str, *options: str, day: str = DAYS[-1]) -> list[dict[str, Any]]:
        """Return what a search finds."""
        answer = done(self.repo, "search", "--no-touch", *options, "--", question, now=at(day))
        return list(answer["hits"])

    def texts(self, question: str, *options: str) -> list[tuple[str, str]]:
        """Return text and standing of the claims that a search finds."""
        return [
            (h["text"], h["standing"]) for h in self.hits(question, *options) if h["type"] != "note"
        ]

    def id_of(self, text: str) -> str:
        """Return the id of the active memory that says a text."""
        return next(h["id"] for h in self.hits(text) if h["text"] == text)


def test_a_line_that_is_edited_back_gives_its_memory_the_words_back(tmp_path: Path) -> None:
    old, new = "The staging server runs Debian 11.", "The staging server runs Debian 12."
    nights = Nights(tmp_path, old)
    for day, line in zip(DAYS[1:5], (new, old, new, old), strict=True):
        assert nights.night(day, line)["counts"]["memories_reworded"] == 1
        bodies = {m.body for m in memories(nights.repo).values() if m.status == "active"}
        assert {old, new} & bodies == {line}
    assert nights.night(DAYS[5], old)["status"] == "skipped"


def test_a_line_that_says_itself_that_another_is_over_replaces_it(tmp_path: Path) -> None:
    nights = Nights(tmp_path, "Uwe works at Norlux.")
    nights.night(DAYS[1], "Uwe works at Norlux.", "Uwe no longer works at Norlux.")
    assert nights.texts("Does Uwe work at Norlux?") == [
        ("Uwe no longer works at Norlux.", "resolved")
    ]
    (old,) = nights.texts("Uwe works at Norlux", "--status", "superseded")
    assert old[0] == "Uwe works at Norlux."


def test_the_words_of_what_was_replaced_find_what_replaced_it(tmp_path: Path) -> None:
    nights = Nights(tmp_path, "The team uses Norlux for invoices.")
    nights.night(
        DAYS[1],
        "The team uses Norlux for invoices.",
        log="The team switched from Norlux to Tarnet.",
    )
    assert nights.texts("invoices") == [("The team switched from Norlux to Tarnet.", "resolved")]
    old = nights.texts("invoices", "--status", "superseded")
    assert [text for text, _ in old] == ["The team uses Norlux for invoices."]


def test_another_undated_value_is_contested_and_the_newer_one_comes_first(tmp_path: Path) -> None:
    nights = Nights(tmp_path, "Team testers: 7 people")
    nights.night(DAYS[1], "Team testers: 7 people", *FILL, "Team testers: 9 people")
    assert nights.texts("How many testers has the team?") == [
        ("Team testers: 9 people", "contested"),
        ("Team testers: 7 people", "contested"),
    ]


def test_of_several_dated_decisions_the_newest_holds_and_the_others_are_history(
    tmp_path: Path,
) -> None:
    lines = [
        f"2026-0{month}-1{month}: Decided to use {name} as the message queue"
        for month, name in ((1, "RabbitMQ"), (2, "NATS"), (3, "Pulsar"))
    ]
    nights = Nights(tmp_path, lines[0], lines[1], "2026-01-20: Decided to use Go for parsing")
    found = nights.texts("Which message queue did we decide on?")
    chosen = "Decided to use {} as the message queue".format
    assert found[0] == (chosen("NATS"), "resolved")
    assert (chosen("RabbitMQ"), "stale") in found
    nights.night(DAYS[1], *lines)
    found = nights.texts("Which message queue did we decide on?")
    assert found[0] == (chosen("Pulsar"), "resolved")
    assert {(chosen("NATS"), "stale"), (chosen("RabbitMQ"), "stale")} <= {*found}
    nights.night(DAYS[2], *lines[:2])  # the newest was taken back
    assert (chosen("NATS"), "resolved") in nights.texts("Which message queue did we decide on?")


@pytest.mark.parametrize(
    ("old", "log", "standing"),
    [
        ("Cache port: 7001", "Cache port: 7002", ""),
        ("The team has 7 testers.", "The team has 9 testers.", "stale"),
        ("The blue server has 8 GB.", "The red server has 16 GB.", "resolved"),
    ],
)
def test_a_line_of_a_daily_log_replaces_or_outdates_what_stands(
    tmp_path: Path, old: str, log: str, standing: str
) -> None:
    nights = Nights(tmp_path, old)
    nights.night(DAYS[2], old, log=log)
    for _ in range(2):
        assert dict(nights.texts(old)).get(old, "") == standing
        if standing != "resolved":
            assert [text for text, _ in nights.texts(old)][:1] == [log]
        nights.night(DAYS[3], old)


def test_a_line_that_is_edited_to_say_more_takes_its_memory_along(tmp_path: Path) -> None:
    nights = Nights(tmp_path, "Ana lives in Rome.")
    nights.night(DAYS[1], "Ana lives in Turin. Bea lives in Rome.")
    told = {text for text, _ in nights.texts("Where do Ana and Bea live? Rome Turin")}
    assert told == {"Ana lives in Turin. Bea lives in Rome."}


def test_a_line_about_the_same_thing_at_the_same_place_is_an_edit(tmp_path: Path) -> None:
    old, new = "The car is a Volvo estate of 2015.", "Eva drives the new blue car on long trips."
    nights = Nights(tmp_path, "Ana lives in Turin.", old, "Bea lives in Rome.")
    id_ = nights.id_of(old)
    nights.night(DAYS[1], "Ana lives in Turin.", new, "Bea lives in Rome.")
    assert nights.id_of(new) == id_
    assert memories(nights.repo)[id_].former  # its old words are known
    other = "The printer lacks toner."
    nights.night(DAYS[2], "Ana lives in Turin.", other, "Bea lives in Rome.")
    assert nights.id_of(other) != id_
    assert memories(nights.repo)[id_].status == "archived"


@pytest.mark.parametrize(
    ("verb", "is_kept"),
    [(["confirm", "ID"], True), (["edit", "ID", "--text", "TEXT"], True), (["pin", "ID"], False)],
)
def test_an_edited_line_contests_what_a_person_stated_instead_of_rewording_it(
    tmp_path: Path, verb: list[str], is_kept: bool
) -> None:
    old, new = "Bea's train to Holm leaves at nine.", "Bea's train to Holm leaves at noon, mostly."
    nights = Nights(tmp_path, old)
    id_ = nights.id_of(old)
    own = old.replace("leaves", "departs") if "TEXT" in verb else old
    named = {"ID": id_, "TEXT": own}
    done(nights.repo, *(named.get(word, word) for word in verb), now=at(DAYS[1]))
    nights.night(DAYS[2], new)
    known = {m.body: m.standing for m in memories(nights.repo).values() if "Holm" in m.body}
    assert known == ({own: "contested", new: "contested"} if is_kept else {new: "resolved"})
    kept = memories(nights.repo)[id_]
    assert (kept.body, kept.status) == (own if is_kept else new, "active")
    nights.night(DAYS[3], new)
    assert memories(nights.repo)[id_].body == kept.body


@pytest.mark.parametrize(("verb", "is_kept"), [("confirm", True), ("edit", True), ("pin", False)])
def test_a_section_does_not_continue_a_note_that_a_person_stated(
    tmp_path: Path, verb: str, is_kept: bool
) -> None:
    first, second, third = "Varnished the boat.", "Sanded the mast.", "Ordered two new sails."
    nights = Nights(tmp_path)
    nights.night(DAYS[1], log=f"{first}\n- {second}\n- Rinsed the deck.\n- Greased the winch.")
    (id_,) = (m.id for m in memories(nights.repo).values() if m.is_note)
    text = memories(nights.repo)[id_].body.strip()
    own = text.replace("Sanded", "Oiled") if verb == "edit" else text
    words = ("--text", own) if verb == "edit" else ()
    done(nights.repo, verb, id_, *words, now=at(DAYS[1]))
    log = nights.workspace / "memory" / f"{DAYS[1]}.md"
    log.write_text(f"{log.read_text()}- {third}\n", encoding="utf-8")
    nights.night(DAYS[2])
    notes = {m.body.strip() for m in memories(nights.repo).values() if m.is_note}
    assert notes == {f"{text}\n- {third}", *([own] if is_kept else [])}


def test_a_file_with_other_contents_is_no_edit(tmp_path: Path) -> None:
    old = ["Ana lives in Turin.", "The car is a Volvo estate of 2015.", "Meetings are at nine."]
    new = ["Never deploy on Fridays.", "Bo's sister breeds hens.", "Use tabs in Makefiles."]
    nights = Nights(tmp_path, *old)
    before = {nights.id_of(text) for text in old}
    nights.night(DAYS[1], *new)
    assert before.isdisjoint(nights.id_of(text) for text in new)


def test_of_equal_lines_under_two_headings_only_the_edited_one_changes(tmp_path: Path) -> None:
    lines = ["## Gateway", "- Service port: 7001", "## Panel", "- Service port: 7001"]
    nights = Nights(tmp_path, *lines)
    nights.night(DAYS[1], *lines[:3], "- Service port: 7002")
    found = {(h["text"], h["context"].split(" › ")[-1]) for h in nights.hits("service port")}
    assert found == {("Service port: 7001", "Gateway"), ("Service port: 7002", "Panel")}
    assert {standing for _, standing in nights.texts("service port")} == {"resolved"}


def test_a_line_that_moved_to_another_file_is_not_reworded_by_what_took_its_place(
    tmp_path: Path,
) -> None:
    old, new = (f"The night ferry to Holm leaves at {hour} from pier two." for hour in (21, 22))
    nights = Nights(tmp_path, old)
    id_ = nights.id_of(old)
    harbour = nights.workspace / "memory" / "harbour.md"
    harbour.write_text(f"# Harbour\n\n- {old}\n", encoding="utf-8")
    nights.night(DAYS[1], new)
    assert nights.id_of(old) == id_
    (found,) = [h for h in nights.hits(new) if h["text"] == new]
    assert [place["resource"] for place in found["sources"]] == ["sources/MEMORY.md"]


def test_what_a_person_replaced_stays_replaced_whichever_source_says_it_again(
    tmp_path: Path,
) -> None:
    old, new = "The queue is RabbitMQ.", "The queue is NATS."
    nights = Nights(tmp_path, old)
    done(nights.repo, "supersede", nights.id_of(old), new, now=at(DAYS[1]))
    infra = nights.workspace / "memory" / "infra.md"
    infra.write_text(f"# Infra\n\n## Services\n\n- {old}\n", encoding="utf-8")
    nights.night(DAYS[2], old)
    nights.night(DAYS[3], old, log=old)
    assert nights.texts("Which queue is it?") == [(new, "resolved")]


def test_a_ticked_box_archives_its_task_and_an_opened_one_brings_it_back(tmp_path: Path) -> None:
    task = "Renew the passport before the trip to Norway."
    nights = Nights(tmp_path, f"- [ ] {task}")
    assert [text for text, _ in nights.texts("passport")] == [task]
    nights.night(DAYS[1], f"- [x] {task}")
    assert nights.texts("passport") == []
    (rests,) = nights.hits("passport", "--status", "archived")
    assert rests["text"] == task
    nights.night(DAYS[2], f"- [ ] {task}")
    assert [text for text, _ in nights.texts("passport")] == [task]
    nights.night(DAYS[3], f"- [ ] {task}", log=f"[x] {task}")
    assert nights.texts("passport") == []


def test_a_statement_that_names_its_end_leaves_recall_after_it(tmp_path: Path) -> None:
    leave = "Hana is on leave until 2026-04-20 and her desk is free."
    nights = Nights(tmp_path, leave)
    assert [text for text, _ in nights.texts("Is Hana on leave?")] == [leave]
    assert nights.hits("Hana on leave", day="2026-04-25") == []
    longer = leave.replace("04-20", "05-20")
    nights.night(DAYS[1], longer)
    assert [h["text"] for h in nights.hits("Hana on leave", day="2026-04-25")] == [longer]
    nights.night(DAYS[2], "Hana is on leave and her desk is free.")
    assert nights.hits("Hana on leave", day="2026-06-09")
    friday = "Hana is on leave until Friday and her desk is free."  # edited that day
    nights.night(DAYS[3], friday, "The libary is open until Friday.")
    assert nights.hits("Hana on leave", day=DAYS[3])
    nights.night(DAYS[4], friday.replace("free", "emtpy"), "The library is open until Friday.")
    assert nights.hits("Is the library open?", day="2026-06-09")
    nights.night(DAYS[5], friday.replace("free", "empty"), "The library is open until Friday.")
    assert nights.hits("Hana on leave", day="2026-06-09") == []


def test_a_change_that_a_log_states_is_shown_below_what_it_changes(tmp_path: Path) -> None:
    nights = Nights(tmp_path, "The rotas of the guild are in Slack.", "We bake on Mondays.")
    log = "The guild switched from Slack to Matrix.\n- We no longer bake on Mondays."
    nights.night(DAYS[1], "The rotas of the guild are in Slack.", "We bake on Mondays.", log=log)
    old = next(
        h for h in nights.hits("where are the guild rotas") if h["text"].endswith("are in Slack.")
    )
    assert "switched from Slack to Matrix" in old["later"]["text"]
    assert done(nights.repo, "why", old["id"], now=at(DAYS[-1]))["later"] == old["later"]
    assert ("We bake on Mondays.", "resolved") not in nights.texts("When do we bake?")


def test_an_undated_amount_names_the_later_one_also_below_the_first_hit(tmp_path: Path) -> None:
    old = "Nadler: payment terms 30 days net, invoices by mail to the office."
    nights = Nights(tmp_path, old, "Nadler wants every offer as a PDF.")
    new = "Nadler called, payment terms are 14 days from January."
    nights.night(DAYS[1], old, "Nadler wants every offer as a PDF.", log=new)
    hits = {h["text"]: h["later"] for h in nights.hits("Nadler payment terms from January")}
    assert next(iter(hits)) != old
    assert new in hits[old]["text"]
    assert hits["Nadler wants every offer as a PDF."] is None


def test_what_an_import_copied_is_not_later_than_what_a_log_dates(tmp_path: Path) -> None:
    log = tmp_path / "agent" / "memory" / "2026-03-02.md"
    log.parent.mkdir(parents=True)
    new = "We decided to send the cellar backups to Vaultbox."
    log.write_text(f"# 2026-03-02\n\n- {new}\n", encoding="utf-8")
    old = "The cellar backups go to a Brickbox every night."
    nights = Nights(tmp_path, old)
    assert done(nights.repo, "why", nights.id_of(new), now=at(DAYS[0]))["later"] is None
    hits = {h["text"]: h["later"] for h in nights.hits("Where do the cellar backups go?")}
    assert hits[new] is hits[old] is None
    nights.night(DAYS[1], old, log="The cellar backups now go to a Stonebox.")
    hits = {h["text"]: h["later"] for h in nights.hits("Where do the cellar backups go?")}
    assert hits[old]["captured"] == DAYS[1]


def test_a_german_compound_is_found_by_its_longest_part(tmp_path: Path) -> None:
    nights = Nights(tmp_path, "Das Team trifft sich montags um neun im kleinen Raum.")
    texts = [h["text"] for h in nights.hits("Wann ist das Teamtreffen?")]
    assert texts == ["Das Team trifft sich montags um neun im kleinen Raum."]


def vault(base: Path, **notes: str) -> Path:
    """Write the notes of a vault, by title."""
    (base / "vault/.obsidian").mkdir(parents=True, exist_ok=True)
    for title, text in notes.items():
        path = base / "vault" / f"{title}.md"
        path.write_text(f"# {title}\n\n{text}\n", encoding="utf-8")
    return base / "vault"


def standings(repo: Path, word: str) -> dict[str, str]:
    """Return text and standing of the active memories with a word."""
    active = (m for m in memories(repo).values() if m.status == "active" and not m.is_note)
    return {m.body.lstrip("- "): m.standing for m in active if word in m.body}


AFRAID = "Noor is afraid of geese, so take the long path by the old canal."
NO_MORE = "Noor is no longer afraid of geese."


GUILD = "The guild bakes rye and spelt for the mill."
NO_SPELT = "The guild no longer bakes spelt."


@pytest.mark.parametrize(("old", "part"), [(AFRAID, NO_MORE), (GUILD, NO_SPELT)])
def test_the_end_of_a_part_ends_nothing_and_is_shown_below_the_line(
    tmp_path: Path, old: str, part: str
) -> None:
    nights = Nights(tmp_path, old)
    id_ = nights.id_of(old)
    nights.night(DAYS[1], old, log=part)
    assert standings(nights.repo, part.split()[-1][:-1])[old] == "resolved"
    assert part in done(nights.repo, "why", id_, now=at(DAYS[-1]))["later"]["text"]
    hits = {h["text"]: h["later"] for h in nights.hits(f"What about {old}")}
    assert hits[old]["captured"] == DAYS[1]


def test_two_lines_that_both_say_it_is_not_so_are_no_contradiction(tmp_path: Path) -> None:
    vault(tmp_path, Noor=f"- {AFRAID}")
    done(tmp_path, "init", "memory", "--from", "vault", now=at(DAYS[0]))
    repo = tmp_path / "memory"
    done(repo, "run", now=at(DAYS[0]))
    (old,) = (m.id for m in memories(repo).values() if m.body.endswith(AFRAID))
    own = "Noor is not afraid of geese; it was her brother."
    done(repo, "supersede", old, own, now=at(DAYS[1]))
    vault(tmp_path, Noor="- Noor is no longer afraid of geese, that was her brother.")
    done(repo, "run", now=at(DAYS[1]))
    assert set(standings(repo, "geese").values()) == {"resolved"}
    assert done(repo, "status", now=at(DAYS[1]))["contradictions"] == 0


def test_a_fact_stored_by_hand_and_a_log_with_another_value_are_contested(tmp_path: Path) -> None:
    title, stored, note = DAYS[0], "Ordered soap for the loft.", "Ordered wax for the loft."
    vault(tmp_path, Prices="- A key costs 9 euros.", **{DAYS[0]: f"- Rain.\n- {stored}"})
    done(tmp_path, "init", "memory", "--from", "vault", now=at(DAYS[0]))
    repo = tmp_path / "memory"
    done(repo, "run", now=at(DAYS[0]))
    done(repo, "add", stored, now=at(DAYS[1]))
    vault(tmp_path, **{title: f"- Rain.\n- {note}"})
    done(repo, "run", now=at(DAYS[2]))
    assert standings(repo, "loft") == {stored: "contested", note: "contested"}
    page = (repo / "MEMORY.md").read_text()
    assert (stored in page, note in page) == (True, False), "a person's wording comes first"
    hits = done(repo, "search", "loft", "--no-touch", now=at(DAYS[2]))["hits"]
    assert hits[0]["text"] == note
