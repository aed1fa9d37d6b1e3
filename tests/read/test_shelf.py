"""Which thoughts are chosen: each file's share, and the room of the whole repository."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from memrepo.core.memory import Source
from memrepo.judge.offline import read_statements
from memrepo.read import choice
from memrepo.read.choice import Candidate, choose
from memrepo.read.intake import Placed
from memrepo.read.kinds import file_kind
from memrepo.read.shelf import DETAIL_COST, OWNERS, RankedUnit, rank_file
from memrepo.read.thoughts import scan


def ranked(path: str, lines: Sequence[str], **options: object) -> list[RankedUnit]:
    text = "# Mill\n\n" + "".join(f"- {line}\n" for line in lines)
    units = scan(path, text.encode()).units
    return list(rank_file(file_kind(path, text, units), units, **options).values())


BANS = [
    f"Never let {chr(65 + n % 26)}{chr(97 + n // 26)}a touch the wheel of the mill."
    for n in range(60)
]


@pytest.mark.parametrize(
    ("path", "count", "least", "most"),
    [
        ("house-rules.md", 60, 1, 20),
        ("memory/2026-01-04.md", 60, 0, 5),
        ("old/mill.md", 60, 0, 0),
        ("house-rules.md", 3, 3, 3),
    ],
)
def test_a_file_gives_at_most_its_share(path: str, count: int, least: int, most: int) -> None:
    assert least <= sum(bool(one.fits) for one in ranked(path, BANS[:count])) <= most


def test_a_line_in_brackets_is_no_aside_in_a_kept_file() -> None:
    line = "[Jora owns the mill in the valley]"
    assert [bool(ranked(path, [line])[0].fits) for path in ("MEMORY.md", "mill.md")] == [
        True,
        False,
    ]


def test_a_log_alone_tells_who_people_are() -> None:
    lines = ["Jora's mother is called Ruth and lives in Linz.", "Jora ground the oats at noon."]
    assert [one.fits for one in ranked("memory/2026-01-04.md", lines)] == ["fair", ""]


def test_a_day_s_decisions_and_corrections_go_before_what_happened() -> None:
    happened = [f"The {word} cart of oats came in at the gate." for word in ("red", "blue", "tall")]
    news = [
        "We decided to grind rye on Mondays from spring on.",
        "The old note on the sluice was wrong: it holds four hands of water.",
        "Jora prefers the coarse stone for barley.",
    ]
    found = ranked("memory/2026-01-04.md", [*happened, *news, *happened[:1]])
    by_rank = sorted(found[:6], key=lambda one: -one.rank)
    assert {one.rank for one in found[3:6]} == {one.rank for one in by_rank[:3]}


def test_what_points_to_another_source_promotes_nothing() -> None:
    lines = ["[No wet corn](corn.md) — never grind it", "`lessons/oats.md` — Never grind wet oats"]
    read = ranked("memory/MEMORY.md", lines, sources=("memory/corn.md", "lessons/oats.md"))
    assert [one.fits for one in read] == ["", ""]
    assert not any(one.fits for one in ranked("TOOLS.md", ["[The mill](/concepts/mill)"]))
    unread = ranked("memory/MEMORY.md", lines)
    assert all("pointer" in one.signs for one in read)
    assert ["pointer" in one.signs for one in unread] == [True, False], "a link may be dead"


@pytest.mark.parametrize(
    ("path", "heading", "line", "is_rule"),
    [
        ("MEMORY.md", "Notes", "Never share the key of the mill with guests.", True),
        ("memory/2026-01-04.md", "Notes", "Jora said: never let the stone run dry.", True),
        ("memory/2026-01-04.md", "What I learned", "Grain sacks must be sewn with flax.", False),
        ("memory/2026-01-04.md", "Rules", "The lever must never be oiled by guests.", True),
        ("research/stones.md", "Setup", "The stone never needs to be cut unless it broke.", False),
    ],
)
def test_a_rule_is_one_where_rules_stand_or_by_its_form(
    path: str, heading: str, line: str, is_rule: bool
) -> None:
    text = f"# Mill\n\n## {heading}\n\n{line}\n"
    units = scan(path, text.encode()).units
    (one,) = rank_file(file_kind(path, text, units), units).values()
    assert (one.type == "constraint") == is_rule


@pytest.mark.parametrize(
    ("path", "heading", "line", "kind"),
    [
        ("MEMORY.md", "Grain", "Decision: the mill grinds rye on Mondays.", "decision"),
        ("TOOLS.md", "Forbidden", "Wet corn on the big stone.", "constraint"),
        ("SOUL.md", "Core", "**Be warm first.** Then be quick, and be quiet.", "constraint"),
        ("MEMORY.md", "Lessons", "The stone runs dry below four hands of water.", "lesson"),
        ("MEMORY.md", "Grain", "All grain must be dried before it is ground.", "constraint"),
        ("MEMORY.md", "Grain", "The old note, which nobody read, says it must be dry.", "fact"),
        ("MEMORY.md", "Grain", "Is the belt dry? Is the wheel oiled?", "fact"),
        ("MEMORY.md", "Grain", "Who owns the upper sluice?", "open_question"),
        ("USER.md", "Notes", "Prefers rye bread to white bread.", "preference"),
        ("research/rye.md", "Summary", "Bakers prefer rye that was dried slowly.", "fact"),
        ("MEMORY.md", "Nature", '"Honey never spoils, said the miller"', "fact"),
        ("IDENTITY.md", "Traits", "Born at the upper weir, and fond of rye.", "identity"),
        ("USER.md", "Preferences", "Short talk is welcome: never mind the weather.", "preference"),
        ("memory/2026-01-04.md", "Preferences", "Short talk, and no weather.", "preference"),
        ("notes.md", "Boundaries of the mill", "The weir, the lane and the upper field.", "fact"),
        ("TOOLS.md", "Erlaubt", "Das Wehr prüfen und den Riemen ölen", "constraint"),
        ("TOOLS.md", "Reminders", "Bells ring at six, and NEVER during a sermon.", "constraint"),
        ("MEMORY.md", "Grain", "**Wet sacks**: If a sack drips, Jora must open it.", "constraint"),
        ("MEMORY.md", "Grain", "The weir keeper is Jora. As always.", "fact"),
        ("MEMORY.md", "Lessons", "The belt slips when wet — use the lever instead.", "lesson"),
        ("MEMORY.md", "Lessons", "Never grind at night.", "constraint"),
        ("MEMORY.md", "Das letzte Licht", "Die Mühle liefert im Mai nach Visby.", "fact"),
        ("MEMORY.md", "Fehler", "Riemen nass: vorher ölen.", "lesson"),
        ("MEMORY.md", "Erreurs", "La meule chauffe : avant, mouiller le grain.", "lesson"),
        ("notes/weir.md", "Fehler", "Kein Zugriff auf das Wehr.", "fact"),
        ("SOUL.md", "Who I am", "I am the friend of the miller, and of his bees.", "identity"),
        ("SOUL.md", "Talk", "Answer in German.", "preference"),
        ("SOUL.md", "Talk", "You are the clerk of the mill.", "identity"),
        ("SOUL.md", "Talk", "Jokes: a few, and never about the miller.", "constraint"),
        ("SOUL.md", "Talk", "Ring the bell yourself at six. All must hear it.", "constraint"),
    ],
)
def test_a_type_comes_from_the_form(path: str, heading: str, line: str, kind: str) -> None:
    text = f"# Mill\n\n## {heading}\n\n- {line}\n"
    units = scan(path, text.encode()).units
    (one,) = rank_file(file_kind(path, text, units), units).values()
    assert one.type == kind


def test_a_list_of_lessons_is_one_although_a_line_of_it_bans_something() -> None:
    text = (
        "# Mill\n\n## Lessons\n\nWhat a wet year taught:\n\n- Corn clogs\n- Never grind at night\n"
    )
    units = scan("MEMORY.md", text.encode()).units
    (one,) = rank_file(file_kind("MEMORY.md", text, units), units).values()
    assert one.type == "lesson"


def test_a_file_without_headings_is_of_the_kind_that_its_name_tells() -> None:
    def types(path: str, line: str) -> set[str]:
        return {one.type for one in ranked(path, [line])}

    line = "Sacks of rye burst because the seam at the bottom is weak."
    assert types("lessons.md", line) == {"lesson"}
    assert types("lessons.md", "Jora owns the upper sluice.") == {"fact"}
    assert types("dance-lessons.md", line) == {"fact"}


def test_an_instruction_about_decisions_is_a_rule() -> None:
    lines = ["Write into the log what we decided and why.", "## Format\n  ## Decisions - and why"]
    assert {one.type for one in ranked("AGENTS.md", lines)} == {"constraint"}


def test_of_a_day_only_what_may_last_is_a_memory_and_a_paper_gives_none() -> None:
    rule = "Never push to the release branch without asking Ruth."
    till = "The server of the till has the address 10.0.0.7:3020 and runs as `ox.service`."
    lines = ["The root cause was a wet belt, because nobody had oiled it.", till, rule]
    found = ranked("memory/2026-01-04.md", [*lines, "Checked the mail, found nothing."])
    assert [one.fits for one in found] == ["", "", "fair", ""]
    for name in ("README.md", "research/belts.md"):
        assert not any(one.fits for one in ranked(name, lines))


def test_a_file_that_nobody_keeps_for_what_lasts_has_a_twentieth_of_the_places() -> None:
    page = [replace(one, sources=(Source(resource="belts.md"),)) for one in some(*[3.0] * 30)]
    for kind, count in (("page", 3), ("project", 3), ("memory", 30)):
        found = [replace(c, signs=(f"file_{kind}",)) for c in page]
        assert chosen(found, size=60.0) == count
        few = [replace(c, sources=(), fits="fair") for c in found]
        fair = [replace(c, sources=(Source(resource=f"{n}.md"),)) for n, c in enumerate(few)]
        assert chosen(fair, size=60.0) == (choice.THIN if kind == "memory" else choice.HARDLY_ANY)


def test_what_an_owner_tells_the_agent_is_a_rule_and_has_a_tenth_of_the_places() -> None:
    lines = [f"Read the file of the {word} stone first, and then answer." for word in WET]
    assert {one.type for one in ranked("AGENTS.md", lines)} == {"constraint"}
    shipped = "You're not a chatbot. You're becoming someone."
    (one,) = ranked("SOUL.md", [shipped])
    assert not one.fits
    added = "In talks with the miller, greet him by his name."
    alone, beside = (ranked("SOUL.md", [added, *more]) for more in ([], [shipped]))
    assert beside[0].rank == pytest.approx(alone[0].rank + OWNERS), "added to what was shipped"
    logs = [replace(one, signs=("file_day_log",)) for one in some(*[3.0] * 30)]
    assert chosen(logs, size=60.0) == 15, "all daily logs have a quarter"
    instructions = [replace(one, signs=("file_instruction",)) for one in some(*[3.0] * 30)]
    assert chosen(instructions, size=60.0) == 6
    kept = [replace(one, candidate_id=f"kept-{one.candidate_id}") for one in some(*[2.0] * 30)[10:]]
    assert chosen([*instructions, *kept], size=60.0) == 22, "the copy of one without a place"


def test_a_task_is_no_promise_unless_it_says_so() -> None:
    tasks = ["[ ] Order a belt", "[ ] We will deliver the flour to Visby"]
    assert [one.type for one in ranked("MEMORY.md", tasks)] == ["fact", "commitment"]


WET = ("rye", "oats", "corn")


def some(*ranks: float, fits: str = "good", text: str = "") -> list[Candidate]:
    words = "anvil birch cedar delta ember fjord gravel harbour island jetty".split()
    return [
        Candidate(
            candidate_id=f"cand-{n}",
            text=text or " ".join(f"{word}{chr(97 + n % 26)}{chr(97 + n // 26)}" for word in words),
            rank=rank,
            fits=fits,
        )
        for n, rank in enumerate(ranks)
    ]


def chosen(candidates: Sequence[Candidate], **options: object) -> int:
    return len(choose(candidates, **{"size": 10.0, "existing": 0, **options}).shelf)


def test_the_shelf_has_room_for_so_many() -> None:
    many = some(*[2.0] * 30)
    assert chosen(many) == 10
    assert chosen(many, existing=8) == 2
    assert chosen(many, existing=50) == 1
    assert chosen(many, size=math.inf) == 30


def test_a_thin_shelf_takes_what_is_fair_and_a_rich_one_does_not() -> None:
    fair = some(*[1.0] * 40, fits="fair")
    assert chosen(fair, size=32.0) == choice.THIN
    assert chosen(fair, size=32.0, existing=choice.THIN) == 0
    for signs in (("file_day_log", "decision"), ("file_day_log", "where")):
        told = [replace(one, signs=signs) for one in fair]
        assert chosen(told, existing=10, size=99.0) == choice.THIN - 10


def test_a_file_keeps_its_kind() -> None:
    lamps = [f"The lamp {n} in the hall has the address 192.168.1.{n}." for n in range(34)]
    read = ranked("MEMORY.md", [*lamps, "Never switch the lamps off by yourself."])
    assert {one.file_kind for one in read} == {"memory"}
    assert sum(bool(one.fits) for one in read) > 2, "each lamp is a fact of its own"
    for name in ("MEMORY.sync-conflict-20261005-120000-AB.md", "memory/archive/MEMORY.md"):
        assert {one.fits for one in ranked(name, ["Never restart the relay."])} == {""}


def test_what_a_chosen_statement_says_already_has_no_place() -> None:
    whole = "Guests who come by night must ring the brass bell twice and wait at the gate."
    texts_ = [whole, "Guests ring the brass bell twice and wait at the gate.", "Guests ring Ruth."]
    found = [replace(one, text=text) for one, text in zip(some(5.0, 4.0, 3.0), texts_, strict=True)]
    choice_ = choose(found, size=40, existing=0)
    assert choice_.shelf == {"cand-0", "cand-2"}
    again = choose(found, size=40, existing=2, always=choice_.shelf, again=True)
    assert again.shelf == choice_.shelf, "nor when the same statements are read again"


LEDGER = (
    "write the date, guest, room, floor, table, riddle, answer, prize, payment, weather, coat, hat,"
    " lamp and key of each visit in Hana's green ledger."
)


@pytest.mark.parametrize(
    ("log", "is_chosen"),
    [
        ("Please keep a list of used riddles and of lost keys.", True),
        ("Keep the list of used riddles and of lost keys.", False),
        ("Keep no list of used riddles and lost keys.", True),
        (
            "Ruth asked me to keep a list of used riddles and lost keys, as guests repeat them.",
            True,
        ),
        ("Decision: the list of used riddles and lost keys is kept by Jonas, as Ruth left.", True),
        ("Never keep a list: used riddles and lost keys are read by Ruth.", True),
        ("Ruth asked me not to keep a list of used riddles and lost keys.", True),
        ("Ruth asked me to keep a list of used riddles and lost keys for 30 days.", True),
        ("Ruth asked me to keep a list of guests.", True),
        (f"Do not {LEDGER}", True),
    ],
)
def test_a_line_of_a_log_that_a_kept_file_states_has_no_place(log: str, is_chosen: bool) -> None:
    *rules, told = some(-9.0, -9.0, 5.0)  # the rules have no place themselves
    texts = ("Keep a list of used riddles and lost keys.", f"Do {LEDGER}")
    kept = [
        replace(rule, text=text, signs=("file_rules",), fits="")
        for rule, text in zip(rules, texts, strict=True)
    ]
    told = replace(told, text=log, signs=("file_day_log",))
    shelf = choose([*kept, told], size=40, existing=0).shelf
    assert (told.candidate_id in shelf) == is_chosen


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        (
            "Deploys need two approvals on Fridays.",
            "All deploys of Ruth need two approvals on Fridays.",
            True,
        ),
        ("Old lost/abandoned page: 88213", "Old lost/abandoned page 88213: 4 visits", True),
        ("Ruth feeds barley to Odo.", "Odo feeds barley to Ruth.", False),
        ("Oak lasts longer than pine.", "In rain pine lasts longer than oak.", False),
        ("Odo eats barley at noon.", "Ruth eats barley at noon and Odo eats oats at noon.", False),
        ("Odo may eat oats.", "Odo may eat barley while Ruth may eat oats.", False),
        ("The mill rings bell 9.", "The mill rings bell 8 and the weir bell 9.", False),
        ("Sew linen with flax.", "Sew linen with silk and sacks with flax.", False),
        (
            "The weir is closed, and geese sleep.",
            "The weir is closed, and the geese sleep indoors.",
            True,
        ),
        ("Never feed the geese.", "- Lock the shed at dusk\n- Never feed the geese", True),
        ("Geese are fed by Ruth at the pond.", "Ruth feeds the geese at the pond: barley.", False),
        ("The loom is open to everyone.", "The loom is open to everyone except guests.", False),
        ("The alpha server runs Debian 12.", "The beta server runs Debian 12.", False),
        ("Guests need a badge.", "Guests do not need a badge.", False),
        ("The kiln fires at 900 degrees.", "The kiln fires at 950 degrees.", False),
        (
            "Doors open at noon.",
            "The bakery opens at six.\nAt noon the old doors are oiled.",
            False,
        ),
        ("The pond", "The pond freezes in January.", False),
    ],
)
def test_what_another_states_alone_or_among_more_is_the_same(
    one: str, other: str, is_same: bool
) -> None:
    first, second, *rest = some(5.0, 2.0, *[1.0] * 8)
    units = (
        scan("a.md", one.encode()).units[0],
        scan("b.md", f"# Rules\n{other}".encode()).units[0],
    )
    at = [Placed(unit=u, resource=u.resource, blob="", committed="2026-08-29") for u in units]
    part = replace(first, text=one, placed=(at[0],), sources=(at[0].source(),))
    whole = replace(second, text=other, placed=(at[1],), sources=(at[1].source(),))
    found = [part, whole, *rest]
    choice_ = choose(found, size=3, existing=0)
    assert choice_.same == ({"cand-0": "cand-1"} if is_same else {}), "the fuller one stays"
    assert ("cand-0" in choice_.shelf) != is_same
    if is_same:
        (stated,) = read_statements([whole, part], choice_, "personal")
        assert [source.resource for source in stated.sources] == ["b.md", "a.md"]


def test_what_is_due_later_is_not_chosen_when_the_same_is_read_again() -> None:
    found = [
        replace(one, text=f"Pay the mill of {one.text} by 2026-03-{n + 10}.")
        for n, one in enumerate(some(*[-2.0] * 9, fits=""))
    ]
    shelf = choose(found, size=10, existing=0, today="2026-03-01").shelf
    assert len(shelf) == choice.MAX_DUE
    again = choose(found, size=10, existing=5, always=shelf, again=True, today="2026-03-14")
    assert again.shelf == shelf


@pytest.mark.parametrize(("times", "fits"), [(20, True), (40, False)])
def test_a_long_entry_is_found_by_search_and_has_no_place(times: int, fits: bool) -> None:
    why = "The gate of oak sticks when the frost is hard. " * times
    assert (
        bool(ranked("MEMORY.md", [f"Never open the sluice at night. {why}".strip()])[0].fits)
        is fits
    )


def test_sections_with_the_same_lines_about_other_things_are_not_the_same() -> None:
    text = "# Mills\n\n" + "".join(
        f"### {name}\n- Wheel: oak, of four paddles\n- Stone: coarse, from the hill\n\n"
        for name in ("Ashford", "Brindle", "Cawder")
    )
    units = scan("MEMORY.md", text.encode()).units
    found = [
        Candidate(candidate_id=f"cand-{n}", text=unit.text, rank=5.0, fits="good")
        for n, unit in enumerate(units)
    ]
    assert len(units) == 3
    assert choose(found, size=40, existing=0).same == {}


def test_a_heading_completes_no_clause_about_something_else() -> None:
    text = (
        "# Mills\n\n## Barn\n- The granary is repaired each winter by Ruth, who has the key.\n"
        "- The barn is repaired each winter by Ruth.\n"
    )
    found = [
        Candidate(
            candidate_id=f"cand-{n}",
            text=unit.text,
            placed=(Placed(unit=unit, resource="MEMORY.md", blob="", committed="2026-08-29"),),
            rank=5.0,
            fits="good",
        )
        for n, unit in enumerate(scan("MEMORY.md", text.encode()).units)
    ]
    assert len(found) == 2
    assert choose(found, size=40, existing=0).same == {}


def test_a_full_shelf_prefers_what_the_memory_says() -> None:
    other = [replace(one, signs=("file_decisions",)) for one in some(*[3.5] * 10)]
    own = [
        replace(one, candidate_id=f"own-{n}", text=f"{WET[n]} is dry", signs=("file_memory",))
        for n, one in enumerate(some(*[2.5] * 3))
    ]
    shelf = choose([*other, *own], size=10, existing=0).shelf
    assert len(shelf) == 10
    assert {one.candidate_id for one in own} <= shelf


def test_a_full_shelf_prefers_what_is_unlike_the_chosen() -> None:
    texts = (
        "Insight of the miller: never include the due day in a request (weakens the price)",
        "Learned: the due day shows haste, never include a day in requests; it weakens the price",
        "The cellar key hangs behind the boiler in the hall",
    )
    signs = [("file_rules",), ("file_rules",), ("file_rules",)]
    for own, expected in ((signs, {0, 2}), ([signs[0], ("file_memory",), signs[2]], {0, 1})):
        found = some(5.0, 2.0, 1.0)
        found = [
            replace(one, text=text, signs=sign)
            for one, text, sign in zip(found, texts, own, strict=True)
        ]
        shelf = choose(found, size=2, existing=0).shelf
        assert shelf == {f"cand-{n}" for n in expected}, "but for what the owner keeps"
    assert len(choose(found, size=3, existing=0).shelf) == 3, "room is for all"


@pytest.mark.parametrize(
    ("rank", "hint", "count"), [(3.5, "constraint", 8), (3.5, "fact", 4), (2.5, "constraint", 4)]
)
def test_clear_rules_of_instructions_have_twice_their_share_of_a_shelf_with_room(
    rank: float, hint: str, count: int
) -> None:
    many = [replace(one, type_hint=hint, signs=("file_instruction",)) for one in some(*[rank] * 20)]
    assert chosen(many, size=40.0) == count


def test_a_headed_memory_goes_before_its_details_and_ends_behind_a_list() -> None:
    description = "Only the miller of Ashford himself may open the weir of the upper mill."
    rules = "".join(
        f"- Never open the {word} sluice before the bell rings, and {word * 9}.\n" for word in WET
    )
    notes = "The weir holds the water of three brooks and of the mill pond. " * 30
    header = f"---\nname: Weir\ndescription: {description}\n---"
    data = f"{header}\n\nIt follows that:\n\n{rules}\n{notes}\n"
    units = scan("memory/weir.md", data.encode()).units
    assert units[0].kind == "memory"
    assert units[0].text.startswith(f"{description}\n\nIt follows that:\n- ")
    assert units[0].text.endswith(f"{WET[-1] * 9}.")
    kind = file_kind("memory/weir.md", data, units)
    rest = units[1:]
    ranks, alone = rank_file(kind, units), rank_file(kind, rest)
    lower = [alone[unit.hash].rank - ranks[unit.hash].rank for unit in rest]
    assert lower == pytest.approx([DETAIL_COST] * len(rest))


FACT_OF_A_DAY = "Jora the miller pays the ferry 40 crowns and wants no bill for it."


@pytest.mark.parametrize(
    ("path", "heading", "fits"),
    [
        ("memory/2026-01-04.md", "2026-01-04", ""),
        ("memory/2026-01-04.md", "Rules of the mill", "fair"),
        ("MEMORY.md", "2026-01-04", "fair"),
        ("MEMORY.md", "The mill", "good"),
    ],
)
def test_a_fact_of_a_day_is_chosen_only_where_there_is_little_else(
    path: str, heading: str, fits: str
) -> None:
    text = f"# The day\n\n## {heading}\n\n- {FACT_OF_A_DAY}\n- The cart came at noon.\n"
    units = scan(path, text.encode()).units
    first, second = rank_file(file_kind(path, text, units), units).values()
    assert first.type == second.type == "fact"
    assert (first.fits, bool(second.fits)) == (fits, path == "MEMORY.md")


@pytest.mark.parametrize("mark", ["(superseded)", "(obsolete 2026-01-04)", "— RETIRED 2026-01-04"])
def test_a_line_that_its_mark_ends_is_never_chosen(mark: str) -> None:
    over, holds, named = ranked(
        "MEMORY.md",
        [
            f"Never grind rye on the lower stone {mark}",
            "Never grind oats on the upper stone (of granite)",
            "Never open the archive of retired stones to guests",
        ],
    )
    assert (over.fits, holds.fits, named.fits) == ("", "good", "good")


def test_a_section_of_links_to_other_sources_promotes_nothing() -> None:
    items = [f"- [{name}]({name}.md) — never grind wet {name}" for name in ("rye", "oats", "corn")]
    text = "\n".join(("# Memory", "", "## Feedback", "", *items, ""))
    units = scan("MEMORY.md", text.encode()).units
    found = rank_file(file_kind("MEMORY.md", text, units), units).values()
    assert {one.fits for one in found} == {""}


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("DREAMS.md", "# Dreams\n\n## 2026-01-20\n\n- Learn to sail.\n- A hut by the lake.\n"),
        ("DREAMS.md", "# Träume\n\n## 3. Mai 2026\n\n- Einmal nach Island segeln.\n"),
        ("CHRONICLES.md", "# Chronicles\n\n- 2026-01-18: The barn burned down.\n"),
        ("RTMEMORY.md", "# Learned\n\n## 2026-01-20\n\n- Wet corn sticks to the stone.\n"),
    ],
)
def test_a_day_before_a_line_does_not_lower_it_in_a_file_kept_for_its_type(
    path: str, text: str
) -> None:
    units = scan(path, text.encode()).units
    assert all(one.fits for one in rank_file(file_kind(path, text, units), units).values())


def fits_of(text: str, path: str = "MEMORY.md") -> dict[str, RankedUnit]:
    units = scan(path, text.encode()).units
    found = rank_file(file_kind(path, text, units), units)
    return {unit.text: found[unit.hash] for unit in units}


@pytest.mark.parametrize(
    ("heading", "line", "type_"),
    [
        ("Findings", "The pump must have run dry twice.", "fact"),
        ("Walls", "Finding: the west wall always lets water through.", "fact"),
        ("Findings", "Never run the pump dry.", "constraint"),
    ],
)
def test_a_finding_is_no_rule(heading: str, line: str, type_: str) -> None:
    assert fits_of(f"# Memory\n\n## {heading}\n\n- {line}\n")[line].type == type_


def test_numbered_lines_below_decisions_are_one_each() -> None:
    found = fits_of("# Memory\n\n## Decisions made\n\n1. Keep the lathe.\n2. Sell the van.\n")
    assert {text: one.type for text, one in found.items()} == {
        "Keep the lathe.": "decision",
        "Sell the van.": "decision",
    }


def test_the_newest_section_of_a_state_is_kept_and_older_ones_are_not() -> None:
    text = (
        "# Memory\n\n## Website status (2026-03-20)\n\n- The shop page is live.\n\n"
        "## Stand (2026-04-02)\n\n- Der Ofen ist kalt.\n\n"
        "## Stand (2026-04-20)\n\n- Der Ofen ist heiß.\n\n"
        "## Current state (2026-03-01)\n\n- The barn roof is open.\n\n"
        "## Current state (2026-04-15)\n\n- The barn roof is closed.\n"
    )
    assert {text for text, one in fits_of(text).items() if one.fits} == {
        "The shop page is live.",
        "Der Ofen ist heiß.",
        "The barn roof is closed.",
    }


def test_the_states_of_two_numbered_things_are_not_one() -> None:
    text = (
        "# Memory\n\n## Status server 1 (2026-01-04)\n\n- The disk is full.\n\n"
        "## Status server 2 (2026-02-04)\n\n- The fan is loud.\n"
    )
    assert all(one.fits for one in fits_of(text).values())


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Status 3 March 2026", "Status 4 April 2026"),
        ("Status (2026-03-04 09:30)", "Status – 2026-04-04, 14:00"),
    ],
)
def test_the_newest_state_is_known_by_its_date_in_words_and_time(old: str, new: str) -> None:
    text = f"# Memory\n\n## {old}\n\n- The barn is open.\n\n## {new}\n\n- The barn is shut.\n"
    found = fits_of(text)
    assert not found["The barn is open."].fits
    assert found["The barn is shut."].fits
