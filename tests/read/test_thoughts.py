"""What one thought is: whole, verbatim, with its lines, and with what it stands under."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrepo.read.kinds import signs_of
from memrepo.read.thoughts import MEMORY_LENGTH, Unit, scan


def thoughts(text: str, path: str = "notes.md") -> list[Unit]:
    return list(scan(path, text.encode()).units)


def texts(text: str, path: str = "notes.md") -> list[str]:
    return [unit.text for unit in thoughts(text, path)]


FENCE = "```\nmake flour\n```"
SHIPPED = "_Learn about the person you're helping. Update this as you go._"
WET = ("corn", "barley", "rye")
LONG = "The miller of the upper valley keeps every receipt in the drawer by the door. "


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- Ana runs it\n  - born in Lagos\n- Ben helps her daily, always.\n",
         ["Ana runs it\n- born in Lagos", "Ben helps her daily, always."]),
        ("The till opens so:\n\n- turn the key\n- pull twice\n",
         ["The till opens so:\n- turn the key\n- pull twice"]),
        ("1. Close the sluice.\n2. Oil the shaft.\n",
         ["## Shop\n1. Close the sluice.\n2. Oil the shaft."]),
        ("- Bread is sold out by noon on most days.\n\n1. Close it.\n2. Oil it.\n",
         ["Bread is sold out by noon on most days.", "1. Close it.\n2. Oil it."]),
        ("> [!danger]- Grain\n> Never grind wet corn here.\n",
         ["Grain\nNever grind wet corn here."]),
        ("- **Owner:** Ana\n- **Phone:** 555\n", ["## Shop\n- **Owner:** Ana\n- **Phone:** 555"]),
        ("- **Owner:** Ana\n- **Phone:** 555\n\n---\n\n- Save this page at the root.\n",
         ["## Shop\n- **Owner:** Ana\n- **Phone:** 555", "Save this page at the root."]),
        ("Never grind wet corn.\n\nWhy: it clogs the stone.\n",
         ["Never grind wet corn.", "Why: it clogs the stone."]),
        (f"Run this:\n\n{FENCE}\n", [f"Run this:\n{FENCE}"]),
        (f"{FENCE}\n", [FENCE]),
        ("```\nnever closed\n- a line\n", ["never closed\n- a line"]),
        ("| Grain | Price |\n|---|---|\n| rye | 3 |\n",
         ["| Grain | Price |\n|---|---|\n| rye | 3 |"]),
        ("> A guest said that the bread is dark.\n", ["A guest said that the bread is dark."]),
        ("- [x] Pay the miller\n- [ ] Order a belt\n", ["Pay the miller", "Order a belt"]),
        ("<!-- hidden -->\n- Use ~~rye~~ oats for bread\n", ["Use oats for bread"]),
        ("- [[pin:shed:key]] said the mail.\n- Phone: 555\n",
         ["[[pin:shed:key]] said the mail.", "Phone: 555"]),
    ],
)  # fmt: skip
def test_what_belongs_together_is_one_thought(text: str, expected: list[str]) -> None:
    assert texts(f"# Mill\n\n## Shop\n\n{text}") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- **Owner:** Ana\n- **Pronouns:**\n- **Phone:** 555\n",
         "## Ana\n- **Owner:** Ana\n- **Phone:** 555"),
        ("- **Owner:** Ana\n- **Phone:** 555\n- **Avatar:**\n  _(not chosen)_\n",
         "## Ana\n- **Owner:** Ana\n- **Phone:** 555"),
        ("- **Owner:**\n  Ana\n- **Phone:**\n  555\n- **Avatar:**\n  _(not chosen)_\n",
         "## Ana\n- **Owner:** Ana\n- **Phone:** 555"),
        ("- **Owner:** Ana\n- **Phone:** TBD\n- **Town:** updating…\n", "**Owner:** Ana"),
        (f"{SHIPPED}\n\n- **Owner:** Ana\n- **Phone:** 555\n",
         "- **Owner:** Ana\n- **Phone:** 555"),
        ("- **Keys:**\n  - the till\n  - the gate\n", "**Keys:**\n- the till\n- the gate"),
        ("```yaml\n- mill:\n- name: upper\n```\n", "```yaml\n- mill:\n- name: upper\n```"),
    ],
)  # fmt: skip
def test_a_card_has_only_the_fields_that_somebody_filled_in(text: str, expected: str) -> None:
    assert texts(f"# Mill\n\n## Ana\n\n{text}") == [expected]


def test_labelled_fields_below_one_heading_are_one_thought() -> None:
    fields = [
        "**What:** The stone is lifted, turned and laid down again by two people.",
        "**When:** After forty days of rye, or when the flour comes out warm.",
        "**How:** With the long lever that hangs behind the door of the shed.",
    ]
    for text in ("".join(f"- {one}\n" for one in fields), "\n\n".join(fields)):
        (found,) = texts(f"# Mill\n\n## Dressing the stone\n\n{text}")
        assert all(one in found for one in fields)
    for heading in ("Clients", "Whistle"):
        items = "- Lund Bakery, Visby\n- The inn at the weir\n"
        assert texts(f"# Mill\n\n## {heading}\n\n{items}") == [f"## {heading}\n{items.strip()}"]
    long = "- Path: shed/whistle\n- Use: blow it twice at noon, and once more when the cart is in\n"
    assert texts(f"# Mill\n\n## Whistle\n\n{long}") == [f"## Whistle\n{long.strip()}"]
    bans = [
        f"**On {word}:** Never grind any {word} that has not been dried, at no price."
        for word in WET
    ]
    assert texts("# Mill\n\n## Wheel\n\n" + "".join(f"- {one}\n" for one in bans)) == bans


def test_a_list_about_one_thing_is_whole_and_a_fragment_of_a_longer_one_is_torn() -> None:
    parts = [f"{word} stone, {n} hands wide" for n, word in enumerate(WET * 3)]
    items = "".join(f"- {part}\n" for part in parts)
    (found,) = thoughts(
        f"# Mill\n\n## Stones\n\nBought in Visby.\n\n{items}\n_Updated: 2026-01-04_\n"
    )
    assert found.text.split("\n") == ["Bought in Visby.", *(f"- {part}" for part in parts)]
    long = thoughts(f"# Mill\n\n## Stones\n\n{items}{items}{items}- Never lift the old ones.\n")
    assert ["torn" in signs_of(unit) for unit in long] == [True] * 27 + [False]
    assert len(texts(f"# Mill\n\n## Rules\n\n{items}")) == len(parts)


@pytest.mark.parametrize(
    ("text", "sign"),
    [
        ("Why: the stone was bought in haste.", "dangling"),
        ("This keeps the flour cool.", "refers"),
        ("The mill is old. Here is what it needs:", "dangling"),
    ],
)
def test_what_needs_its_neighbours_says_so(text: str, sign: str) -> None:
    (found,) = thoughts(f"# Mill\n\n## Notes\n\n{text}\n")
    assert {"dangling", "refers"} & signs_of(found) == {sign}


def test_two_fields_of_a_longer_list_are_statements_of_their_own() -> None:
    lines = ("Went to the mill", "Ida: party on 3 May", "Canteen: register by 2 May", "Rain")
    text = "# 2026-05-01\n\n" + "".join(f"- {line}\n" for line in lines)
    assert texts(text, "memory/2026-05-01.md") == list(lines)


def test_short_fields_are_one_card_also_with_a_longer_line_among_them() -> None:
    fields = "- Host: mill-3\n- Port: 8080\n- User: ida"
    text = f"# Mill\n\n{fields}\n- {LONG.strip()}\n"
    assert texts(text)[0] == fields


def test_the_fields_that_begin_with_a_name_are_one_card_among_more_sentences() -> None:
    card = "- **Name:** Ana Lind\n- **Pronouns:** she/her\n- **Time zone:** Asia/Manila"
    text = f"# Memory\n\n## Ana\n\n{card}\n" + f"- {LONG.strip()}\n" * 3
    assert texts(text)[0] == card


def test_the_fields_below_a_name_are_one_card() -> None:
    fields = f"- **Name:** Ana\n- **Vibe:** {LONG.strip()}\n- **Emoji:** 🐺\n"
    first, second = texts(f"# Mill\n\n## Ana\n\n{fields}\nShe came in May from Lagos.\n")
    assert first == f"- **Name:** Ana\n- **Vibe:** {LONG.strip()}"
    assert second == "She came in May from Lagos."
    ages = "- Ana: has two mules\n- Ana: has three mules\n"
    assert len(texts(f"# Mill\n\n## Rules\n\n{ages}- {LONG}\n")) == 3, "a card names a key once"


def test_what_is_not_done_is_never_separated_from_the_words_that_say_so() -> None:
    items = "- Grind wet corn\n- Turn the stone by hand\n"
    for label in ("What I must not do", "Never without approval"):
        (found,) = thoughts(f"# Mill\n\n## {label}\n\n{items}")
        assert (found.text, found.lines) == (f"## {label}\n{items.strip()}", (3, 6))
        (found,) = thoughts(f"# Mill\n\n**{label}:**\n\n{items}")
        assert label in found.text
    long = "".join(f"- Leave {LONG}{n}\n" for n in range(12))
    found = thoughts(f"# Mill\n\nNever without approval:\n\n{long}")
    assert all("torn" in signs_of(unit) for unit in found)


def test_a_bold_line_is_a_heading_if_it_names_a_kind_and_a_lead_in_otherwise() -> None:
    items = "- Rye keeps for a year in a dry sack.\n- Oats do not.\n"
    assert texts(f"# Mill\n\n**Grain**\n{items}") == [f"**Grain**\n{items.strip()}"]
    assert len(texts(f"# Mill\n\n**Rules**\n{items}")) == 2
    short = "- Dry sacks\n- No lamps\n"
    assert texts(f"# Mill\n\n**Rules**\n{short}") == [f"**Rules**\n{short.strip()}"]
    assert len(texts(f"# Mill\n\n## Rules\n{short}")) == 2


def test_a_long_list_and_a_long_table_are_split_under_their_lead() -> None:
    items = "".join(f"- {LONG}{n}\n" for n in range(12))
    found = thoughts(f"# Mill\n\nThe rules of the house:\n\n{items}")
    assert [(u.kind, u.lead) for u in found] == [("item", "The rules of the house")] * 12
    rows = "".join(f"| {n} | {LONG} |\n" for n in range(12))
    found = thoughts(f"# Mill\n\n| day | what |\n|---|---|\n{rows}")
    assert [(u.kind, u.lead) for u in found] == [("row", "day | what")] * 12


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("**Owner:** Ana Lund", ("Owner", "Ana Lund")),
        ("名前：安娜", ("名前", "安娜")),
        ("See https://mill.example", ("", "")),
        ("10:30 the belt tore", ("", "")),
        ("**Owner:**", ("", "")),
    ],
)
def test_a_field_has_a_key_and_a_value(text: str, field: tuple[str, str]) -> None:
    (found,) = thoughts(f"# Mill\n\n- {text}\n") or [None]
    assert found is not None
    assert (found.key, found.value) == field


def test_a_file_of_one_memory_is_one_thought_with_the_type_of_its_header() -> None:
    head = "---\nname: wet-corn\ndescription: No wet corn\nmetadata:\n  type: feedback\n---\n\n"
    (found,) = thoughts(
        f"{head}Never grind wet corn.\n\n- It clogs.\n\n## More\n", "memory/wet-corn.md"
    )
    assert (found.kind, found.hint, found.headings) == ("memory", "constraint", ("wet-corn",))
    assert found.text == "No wet corn\n\nNever grind wet corn.\n- It clogs."


@pytest.mark.parametrize("count", [3, 40])
def test_of_a_long_file_of_one_memory_the_first_sections_are_the_memory(count: int) -> None:
    head = "---\nname: mill\ndescription: What went wrong\n---\n\n"
    parts = [f"## Part {n}\n\n- {LONG}{n}\n- It clogs.\n" for n in range(count)]
    first, *rest = thoughts(head + "\n".join(parts), "memory/mill.md")
    fitting = [n for n in range(count) if f"{LONG}{n}\n" in f"{first.text}\n"]
    assert fitting == list(range(len(fitting)))
    assert first.text.startswith("What went wrong\n\n## Part 0\n")
    assert first.text.endswith("It clogs.")
    assert len(first.text) <= MEMORY_LENGTH + len("What went wrong\n\n")
    assert len(fitting) == 3 if count == 3 else 3 < len(fitting) < count
    assert [u.headings[-1] for u in rest[::2]] == [f"Part {n}" for n in range(len(fitting), count)]


@pytest.mark.parametrize(
    "body", [LONG * 15, "Never grind wet corn. " * 150, f"**Why:** {LONG * 20}"]
)
def test_a_paragraph_that_does_not_fit_into_a_memory_stays_whole(body: str) -> None:
    head = "---\nname: mill\ndescription: What went wrong\n---\n\n"
    found = thoughts(f"{head}{body}\n", "memory/mill.md")
    told = "\n".join(unit.text for unit in found)
    assert found[0].text.startswith("What went wrong")
    assert re.findall(r"\w+", told)[3:] == re.findall(r"\w+", body)


LINES = st.lists(
    st.sampled_from(
        ["", "# Mill", "## Shop", "- the till", "  - a key", "Words of Ana.", "So:", "1. close it",
         "a: b", "- **Key:** value", "| a | b |", "|---|---|", "```", "> said", "Why: wet",
         "- [x] paid", "2026-01-04: sold it", "**Bold line**", "---"]
    ),
    max_size=25,
)  # fmt: skip


@given(LINES)
def test_every_word_is_in_a_thought_on_its_lines(lines: list[str]) -> None:
    lines = ["# Top", "", *lines]
    found = scan("notes.md", "\n".join(lines).encode())
    said = []
    for unit in found.units:
        first, last = unit.lines
        assert 1 <= first <= last <= len(lines)
        inside = "\n".join(lines[first - 1 : last])
        for word in re.findall(r"\w+", unit.text):
            assert word in inside
        said += [unit.text, unit.lead, *unit.headings, unit.captured]
    if found.dropped or any(line in ("```", "---") for line in lines):
        return
    whole = " ".join(said)
    for line in lines:
        if line.startswith(("#", "**Bold")):
            continue  # a heading with nothing below it says nothing
        assert all(word in whole for word in re.findall(r"[^\W\d]{2,}", line)), line


@pytest.mark.parametrize(
    ("text", "count"),
    [
        (
            "Lives in Pune, works for a firm in Dublin\nVegetarian, no mushrooms\nGym on Mondays\n",
            3,
        ),
        ("照片存在服务器，按年月分开放\n粉丝两万多\n稿子先给太太看一遍\n", 3),
        (
            (
                "The miller keeps each receipt of the upper\n"
                "Valley behind the door, and the sons of\nAna pay\n"
            ),
            1,
        ),
        ("Vegetarian\nGym on Mondays at six\n", 1),
        ("The rules:\nNo flour after six\nNo dogs\n", 1),
        ("Gym on Mondays\nand on Fridays, if the mill is closed by then\n", 1),
    ],
)
def test_a_line_that_ends_before_it_is_full_is_a_thought(text: str, count: int) -> None:
    assert len(texts(text)) == count


def test_the_header_of_a_profile_is_a_card_if_it_names_somebody() -> None:
    head = "---\nname: Vesna Kranjc\ntimezone: Europe/Ljubljana\npronouns:\ntags: [farm]\n---\n"
    (card, line) = scan(
        "USER.md", f"{head}# About\n\n- Keeps bees in three gardens.\n".encode()
    ).units
    assert card.kind == "card"
    assert card.text == "name: Vesna Kranjc\ntimezone: Europe/Ljubljana"
    assert card.lines == (2, 3)
    assert line.text == "Keeps bees in three gardens."
    assert not scan("USER.md", b"---\nsummary: A record of the user\n---\n").units


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("**2026-05-27 - Kiln**: fire it slowly", "**Kiln**: fire it slowly"),
        ("__2026-05-27 Kiln__: fire it slowly", "__Kiln__: fire it slowly"),
        ("**2026-05-27**: fire it slowly", "fire it slowly"),
        ("2026-05-27 - **Kiln**: fire it slowly", "**Kiln**: fire it slowly"),
    ],
)
def test_a_date_at_the_start_leaves_the_bold_text_behind_it_whole(line: str, text: str) -> None:
    (found,) = thoughts(f"# Mill\n\n- {line}\n")
    assert (found.text, found.captured) == (text, "2026-05-27")


@pytest.mark.parametrize(
    "lines",
    [
        ("Sari likes tea", "The mill is in Medan", "Rye costs three crowns"),
        ("Marek woli herbatę", "Serwer stoi w Gdyni", "Spotkania są w środy"),
        ("Der Müller trinkt Kaffee", "Das Lager steht in Kassel"),
        ("Maja dricker te", "Servern står i Umeå"),
        ("Elif çayı şekersiz içer", "Ev sunucusu bodrumda duruyor"),
        ("Олена любить зелений чай", "Сервер стоїть у Львові"),
        ("सर्वर मुंबई में है", "बैठक सोमवार को है"),
        ("نواة تفضل الشاي", "الخادم في برلين"),
        ("เซิร์ฟเวอร์อยู่ที่เชียงใหม่", "ประชุมทุกวันจันทร์"),
        ("민수는 녹차를 좋아한다", "서버는 부산에 있다"),
    ],
)
def test_short_lines_with_subject_and_verb_are_thoughts_below_any_heading(
    lines: tuple[str, ...],
) -> None:
    assert texts("# Memory\n\n## Mill\n\n" + "".join(f"- {one}\n" for one in lines)) == [*lines]


@pytest.mark.parametrize(
    "items",
    [("CSV export", "Undo for bulk edits", "A dark theme"), ("Flour that is dark", "Rye from Ana")],
)
def test_items_that_need_their_heading_stay_one_thought(items: tuple[str, ...]) -> None:
    shown = "".join(f"- {one}\n" for one in items)
    assert len(texts(f"# Memory\n\n## Parser\n\n{shown}")) == 1


def test_lines_below_a_heading_that_negates_them_stay_with_it() -> None:
    items = "- The price is fixed\n- Rye has a share of half\n"
    for heading in ("What not to promise", "Say first:"):
        (found,) = texts(f"# Memory\n\n## {heading}\n\n{items}")
        assert found.startswith(f"## {heading}")


def test_entry_signs_and_lines_without_bullets_part_thoughts() -> None:
    signed = "§ The landlord is Herr Baumann.\n§ Rent is due on the third day.\n"
    assert texts(f"# Memory\n\n## Flat\n\n{signed}") == [
        "The landlord is Herr Baumann.",
        "Rent is due on the third day.",
    ]
    assert texts(
        "Name is Pia Kern\nLives in Leipzig with two kids\n§\nPrefers tea\n", "USER.md"
    ) == [
        "Name is Pia Kern",
        "Lives in Leipzig with two kids",
        "Prefers tea",
    ]
    assert texts("# Law\n\nSee the contract and\n§ 573 of the code.\n") == [
        "See the contract and\n§ 573 of the code."
    ]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Never plant near the fence:", "Not yet done:"),
        ("I don't:", "Instead of guessing, ask when:"),
        ("Was ich nicht mache:", "Vorher fragen bei:"),
        ("No hago nunca:", "Pregunta antes de:"),
    ],
)
def test_each_lead_in_of_a_section_is_one_thought_with_its_own_items(
    first: str, second: str
) -> None:
    lists = [f"{lead}\n- mint\n- dill of Ana" for lead in (first, second)]
    told = "The greenhouse is 3 by 4 metres and faces south."
    section = "\n\n".join((*lists, told))
    assert texts(f"# Memory\n\n## Garden\n\n{section}\n") == [*lists, told]


def test_a_lead_in_takes_no_other_lead_in_from_its_list() -> None:
    text = "Use signs as people do:\n\n**React when:**\n- a guest thanks\n- a guest jokes\n"
    assert texts(f"# Memory\n\n## Chat\n\n{text}") == [
        "Use signs as people do:",
        "**React when:**\n- a guest thanks\n- a guest jokes",
    ]


def test_the_syntax_of_notes_is_no_part_of_a_thought() -> None:
    note = (
        "Supplier:: Norlux\nstatus:: active\n"
        "The stove is serviced by [mechanic:: Ilir Hoxha] each autumn. ^stove1\n\n"
        "- The cellar is dry [insurer:: Norlux]. ^cellar-a1\n\n"
        "Call `std::min` with 2 ^2, always.\n\n"
        "The step costs x ^name\n\nCompare it with HEAD ^main\n\nNumber them by n ^1a\n"
    )
    assert texts(f"# Memory\n\n{note}") == [
        "Supplier: Norlux\nstatus: active",
        "The stove is serviced by mechanic: Ilir Hoxha each autumn.",
        "The cellar is dry insurer: Norlux.",
        "Call `std::min` with 2 ^2, always.",
        "The step costs x ^name",
        "Compare it with HEAD ^main",
        "Number them by n ^1a",
    ]


def test_a_field_within_wrapped_prose_does_not_cut_it_line_by_line() -> None:
    before = "The kestrel project ships in May and Bea leads it together with\nthe team in Porto."
    after = "The dinner is paid by the sponsor,\nand not more than 12 euros per head and\nday."
    assert texts(f"# Memory\n\n{before}\nSponsor:: Norlux\n{after}\n") == [
        before,
        "Sponsor: Norlux",
        after,
    ]


def test_bold_lines_below_one_heading_are_titles_side_by_side() -> None:
    text = "**Rules of style**\n- dusty\n- stale\n\n**Tone of voice**\n- short and plain\n- warm\n"
    found = thoughts(f"# Mill\n\n## Letters\n\n{text}")
    assert [unit.headings[-1] for unit in found] == ["Rules of style", "Tone of voice"]
