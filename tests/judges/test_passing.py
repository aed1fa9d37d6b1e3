"""Lines that are over by the next day, lines of others, and work told in other languages."""

from __future__ import annotations

import pytest
from test_statements import candidates

from memrepo.judges.lasting import traits
from memrepo.judges.noise import passing
from memrepo.judges.scores import score

LOG = "memory/2026-02-07.md"


def reason(line: str, name: str = "MEMORY.md", heading: str = "Mill") -> str:
    """Return why a line below a heading is over, or another's."""
    [candidate] = candidates(f"# Notes\n\n## {heading}\n\n- {line}\n", name)
    return passing(candidate)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("3 of 8 wheels done", "progress"),
        ("Part 2: 3 de 7 ruedas hechas", "progress"),
        ("5 de 8 rodas prontas", "progress"),
        ("4 roues sur 9 terminées", "progress"),
        ("3 von 8 Rädern fertig", "progress"),
        ("Avancement : 70 %", "progress"),
        ("現在の進捗: 6台中4台", "progress"),
        ("v1.4 shipped", "release"),
        ("v1.4 desplegada el 2026-01-14 ✅", "release"),
        ("v2.0 publiée le 21 septembre", "release"),
        ("v3.1 no ar desde 02/01", "release"),
        ("v0.4をリリース済み", "release"),
        ("@kestrel: “Memory is what we choose”", "posted"),
        ("Comentario de @gavilan: «moler es esperar»", "posted"),
        ("Publication de @milan : les moulins dorment", "posted"),
        ("面白い投稿: 「水車は夢を見る」", "posted"),
        ("12 new likes", "applause"),
        ("カルマ: 42 → 45", "applause"),
    ],
)
def test_what_is_over_tomorrow_or_is_anothers_is_no_memory(line: str, why: str) -> None:
    assert reason(line) == why


@pytest.mark.parametrize(
    "line",
    [
        "3 of the 8 wheels are made of oak",
        "v1.4 needs the new belt, because the old one slips",
        "v2.0 ne lit plus les vieux plans",
        "From today the mill grinds no rye",
        "Nunca moler hoy lo de mañana",
        "Each session reads today's log first",
        "Stack hoje (2026): roda de carvalho e correia nova",
        "Handle of the mill: @oakmill",
        "Post goes to the shed behind the mill",
        "POST /wheels answers 403 for ana@oakmill.example",
        "Menu: `today` lists the orders",
    ],
)
def test_what_only_looks_like_it_stays(line: str) -> None:
    assert reason(line) == ""


@pytest.mark.parametrize(
    ("line", "heading", "why"),
    [
        ("Leer el correo de hoy", "Pendientes", "of_today"),
        ("Relancer le meunier demain", "À faire", "of_today"),
        ("Die Welle heute ölen", "Aufgaben", "of_today"),
        ("明日、水車を止める", "やること", "of_today"),
        ("[ ] Oil the belt today", "Mill", "of_today"),
        ("Oil the belt every week, from today", "To do", ""),
        ("The mill stands still today", "Mill", ""),
    ],
)
def test_what_is_owed_today_is_over_and_what_holds_today_may_hold_on(
    line: str, heading: str, why: str
) -> None:
    assert reason(line, heading=heading) == why


@pytest.mark.parametrize(
    ("line", "done"),
    [
        ("Revisé el correo", True),
        ("Vérification des sauvegardes, tout est bon", True),
        ("Le script a planté", True),
        ("Aggiornamento del listino", True),
        ("メール12件を確認、返信は2件", True),
        ("下書きを渡した。", True),
        ("초안을 보냈다", True),
        ("Подготовил письмо мельнику", True),
        ("Nightly Check aborted because the belt was wet", True),
        ("Oiled the wheel. Tightened the belt. Went home", True),
        ("Decidí vender la rueda", False),
        ("Rosé ne veut plus de pain", False),
        ("Il a confié la clé à Odile", False),
        ("歯医者を変えた", False),
        ("담당자를 바꿨다", False),
        ("Сменил мельника", False),
        ("창고에 열쇠가 있다", False),
    ],
)
def test_work_is_told_from_what_changes_in_many_languages(line: str, done: bool) -> None:
    [candidate] = candidates(f"# 2026-02-07\n\n## Mill\n\n- {line}\n", LOG)
    assert ("done" in set(traits(candidate))) == done


@pytest.mark.parametrize(
    ("line", "shown", "hidden"),
    [
        ("## Em aberto\n\n- Vale a pena alugar o moinho do lado?", "lasting_heading", "asks"),
        ("## Décision\n\n- On garde la vieille roue", "lasting_heading", "happened"),
        ("## Olga\n\n- Empieza violín los miércoles a las 17:30", "standing", "timed"),
        ("## Mühle\n\n- Chor montags um 19:30", "standing", "timed"),
        ("## Molino\n\n- Causa: la correa no estaba tensa", "lasting_key", "day_key"),
    ],
)
def test_signs_of_what_lasts_in_other_languages(line: str, shown: str, hidden: str) -> None:
    [candidate] = candidates(f"# 2026-02-07\n\n{line}\n", LOG)
    found = set(traits(candidate))
    assert shown in found
    assert hidden not in found


@pytest.mark.parametrize("value", ["*(pendiente)*", "_(preencher)_", "(à remplir)", "（未記入）"])
def test_a_form_that_nobody_filled_in_is_one_in_any_language(value: str) -> None:
    [candidate] = candidates(f"# IDENTITY.md\n\n- **Avatar:** {value}\n", "IDENTITY.md")
    assert "unfilled" in score(candidate)[1]


POSTED = """# Mill forum, read

## {over}

### {heading}

{rows}

- Stones remember what they ground
- A mill that stands still dreams of oats

## Belts

### Leather

It slips. Grease it.

### Hemp

It burns. Wet it.

## Wheels

### Oak

The wheel turns. Water is dear. Nobody sells oak.
"""


@pytest.mark.parametrize(
    ("over", "heading", "rows", "posted"),
    [
        ("Read", "Of stones", "**Author:** moon_mill", True),
        ("Leído", "De las piedras", "**Autor:** MillerB7 (240 karma)", True),
        ("Gelesen", "Von Steinen", "**Autor:** @steinmetz", True),
        ("Lu", "Des pierres", "**Auteur :** vieux_moulin", True),
        ("読んだもの", "石について", "**投稿者：** mill_42", True),
        ("最近", "关于磨石", "**帖子：** “磨石的记忆”", True),
        ("Found posts", 'millerin: "Stones remember"', "She has ground for years.", True),
        ("探索发现", 'millerin: "磨石的记忆"', "她磨了很多年。", True),
        ("Rules", 'Motto: "Stones remember"', "It stands above the door.", False),
        ("Read", "Of stones", "**Author:** Olga Lund", False),
        ("Read", "Of stones", "**Author:** moon_mill\nhttps://mill.example/stones", False),
    ],
)
def test_what_a_section_retells_of_a_post_is_no_memory(
    over: str, heading: str, rows: str, posted: bool
) -> None:
    found = candidates(POSTED.format(over=over, heading=heading, rows=rows), "memory/read.md")
    told = [c for c in found if "dreams of oats" in c.text]
    assert ["posted" in score(c)[1] for c in told] == [posted]
