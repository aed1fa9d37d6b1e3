"""What a newer statement does to an older one, as pairs: what changes, and what both hold."""

from __future__ import annotations

import pytest

from memrepo.core.memory import Memory
from memrepo.policies.change import change_of
from memrepo.policies.phrases import table
from memrepo.text.words import tables


def prior(text: str, under: str = "") -> Memory:
    return Memory.of("", {"context": under or None}, body=text)


OVER, VALUE, NEXT = "over", "value", "next"
CHANGES = [
    ("Uwe works at Norlux.", "Uwe no longer works at Norlux.", OVER),
    ("The regatta is planned for May 12 in Narvik.", "The regatta in Narvik is off.", None),
    ("The regatta is planned for May 12 in Narvik.", "The Narvik regatta is cancelled.", OVER),
    ("The choir sings in the old mill.", "The choir does not sing in the old mill any more.", OVER),
    ("Hana is on leave until May 3.", "Hana is back from leave.", OVER),
    ("The cache listens on 7001.", "Moved the cache from 7001 to 7002.", OVER),
    ("The cache listens on 7001.", "The cache listens on 7002 instead of 7001.", OVER),
    ("Rasmus lives in Aarhus.", "Rasmus moved to Odense.", None),
    ("Rasmus lives in Aarhus.", "Rasmus lives in Odense.", NEXT),
    ("The loom project is called Kite.", "The loom project was renamed to Falcon.", NEXT),
    ("The owner of invoicing is Lin.", "The owner of invoicing is Gus.", NEXT),
    ("The choir has 7 basses.", "The choir has 9 basses.", NEXT),
    ("The archive is open to everyone.", "The archive is open to everyone except guests.", None),
    ("Loom port: 2525", "Loom port: 2526", VALUE),
    ("Loom host: the blue tower", "Loom host: the rack in Riga", VALUE),
    ("Ana said: the diary holds only facts", "Ana said: each report gives the address", None),
    ("Ana 提到：日記不要有幻想內容，要根據事實", "Ana 提到：報告只給網址，不給檔案路徑", None),
    ("Deployable capital: 80,000", "Deployable capital (current): 100,000", VALUE),
    ("Uwe arbeitet bei Norlux.", "Uwe arbeitet nicht mehr bei Norlux.", OVER),
    ("Le prix du pain est de 3 euros.", "Le prix du pain est désormais de 4 euros.", NEXT),
    ("Iker trabaja en Surmar.", "Iker ya no trabaja en Surmar.", OVER),
    ("Marta mora em Recife.", "Marta mora agora em Natal.", NEXT),
    ("Piero lavora per Sudalis.", "Piero non lavora più per Sudalis.", OVER),
    ("Вера живёт в Омске.", "Вера теперь живёт в Томске.", NEXT),
    ("受付の担当はミナ", "受付の担当はケン", None),
    ("CI runs on Jenkins", "CI runs on Forgejo as of today, the old box is off", NEXT),
    ("The shop chose RabbitMQ as its queue.", "The shop chose NATS as its queue.", NEXT),
    ("We keep bread in Slack.", "We keep bread in Matrix, we moved from Slack to Matrix.", OVER),
    ("Ana's birthday is on May 4.", "I misspoke, Ana's birthday is on May 5.", NEXT),
    ("The kiln fires at 900 degrees.", "Correction: the kiln fires at 950 degrees.", NEXT),
    ("Der Ofen brennt bei 900 Grad.", "Korrektur: der Ofen brennt bei 950 Grad.", NEXT),
    ("We bake on Mondays.", "We no longer bake on Mondays; we bake on Sundays.", OVER),
    ("Horneamos los lunes.", "Ya no horneamos los lunes; horneamos los domingos.", OVER),
    ("As of 2026-02 the fleet has 12 vans.", "In May 2026: the fleet has 15 vans.", NEXT),
    ("Команда ищет записи в Jira.", "Команда перешла с Jira на YouTrack.", None),
    ("Noor may not eat sesame, ask the cook first.", "Noor eats sesame.", None),
    ("Noor fears geese, so walk by the old canal at noon.", "Noor no longer fears geese.", None),
    ("Noor keeps bees; her five hives are in Alta.", "Noor no longer keeps bees, she left.", None),
    ("Noor hat Angst vor Gänsen, geht am Kanal.", "Noor hat keine Angst vor Gänsen mehr.", None),
    ("Piet raucht Pfeife, im großen Saal zweimal lüften.", "Piet raucht nicht mehr Pfeife.", None),
    ("The mill runs on gas, and rye is baked in Alta.", "Rye is no longer baked in Alta.", None),
    ("Noor bakes rye and spelt.", "Noor no longer bakes spelt.", None),
    ("Noor backt Roggen und Dinkel.", "Noor backt Dinkel nicht mehr.", None),
    ("Noor breeds geese, hens & bees.", "Noor no longer breeds bees.", None),
    ("Noor bakes rye and spelt.", "Noor no longer bakes rye and spelt.", OVER),
    ("The loft seats 40.", "Our loft seats 60.", NEXT),
    ("The guild uses Slack for rotas.", "The guild switched from Slack to Matrix.", OVER),
    ("Kim works on Project Kite.", "Kim was moved from Project Kite to Project Falcon.", OVER),
    ("Kim lives in Narvik.", "Kim moved from Narvik to Aarhus in May.", OVER),
    ("We use Slack for rotas.", "We switched from Slack to Matrix for rotas.", OVER),
    ("Die Gilde nutzt Slack.", "Die Gilde ist von Slack zu Matrix gewechselt.", OVER),
    ("La guilde utilise Slack.", "La guilde est passée de Slack à Matrix.", OVER),
    ("El gremio usa Slack.", "El gremio cambió de Slack a Matrix.", OVER),
    ("O coro usa Slack para os turnos.", "O coro migrou de Slack para Matrix em maio.", OVER),
    ("Команда использует Slack.", "Команда перешла с Slack на Matrix.", OVER),
    # Look-alikes.
    ("Noor does not fear geese; it was Ada.", "Noor no longer fears geese, that was Ada.", None),
    ("Noor does not keep bees.", "Noor no longer keeps bees.", None),
    ("Noor is afraid of geese, walk by the canal.", "Ada is no longer afraid of swans.", None),
    ("The loft seats 40.", "The loft for choirs seats 60.", None),
    ("The guild uses Slack for rotas.", "We considered switching from Slack to Matrix.", None),
    ("The guild uses Slack for rotas.", "The guild may have switched from Slack to Matrix?", None),
    ("The guild uses Slack for rotas.", "Tomas switched from Slack to Matrix.", None),
    ("The guild uses Slack for rotas.", "The guild switched from Slack to Matrix for bids.", None),
    ("The guild uses Slack and Trello.", "The guild switched from Slack to Matrix.", None),
    ("The guild uses Slack bots for rotas.", "The guild switched from Slack to Matrix.", None),
    ("The guild used Slack in Narvik.", "The guild switched from Slack to Matrix.", None),
    ("We use Slack.", "We moved the rotas from Slack to Matrix.", None),
    ("Kim lives in Narvik.", "Kim moved her choir from Narvik to Aarhus.", None),
    ("Kim lives in Narvik.", "Kim's choir moved from Narvik to Aarhus.", None),
    ("The guild uses Slack.", "The guild switched its bid forms from Slack to Matrix.", None),
    ("The guild uses Slack.", "The guild switched from Slack to Matrix, for bids only.", None),
    ("Kim lives in Narvik with Lin.", "Kim and Lin moved a loom from Narvik to Aarhus.", None),
    ("Always sign letters with Ada.", "Never sign letters with Ada on Fridays.", None),
    ("Always ask Ada about letters.", "Never ask Bea about letters.", None),
    ("Sea Otter has a mast of 11 m.", "Blue Whale has a mast of 14 m.", None),
    ("Kiran a étudié à Berlin.", "Kiran est passé de Berlin à Paris.", None),
    ("Kiran estudió música en Berlín.", "Kiran pasó de Berlín a París.", None),
    ("Kiran studied in Berlin.", "Kiran moved from Berlin to Paris.", None),
    ("Kiran hat in Berlin studiert.", "Kiran ist von Berlin nach Paris gezogen.", None),
    ("Kim wrote the Slack importer.", "Kim switched from Slack to Matrix.", None),
    ("The red guild uses Slack for rotas.", "The blue guild switched from Slack to Matrix.", None),
    ("We bake on Mondays and Fridays.", "We no longer bake on Sundays.", None),
    ("The staging server runs Ubuntu 22.04.", "The build server runs Ubuntu 24.04.", None),
    ("Mia goes to Hillside school.", "Leo no longer goes to Brook Lane school.", None),
    ("We chose Redis for the session cache.", "We chose Memcached for the image cache.", None),
    ("Amir likes hiking.", "Amir likes sailing.", None),
    ("Elena goes to work by bike.", "Today Elena went to work by bus.", None),
    ("Finch's path: /srv/one (not /srv).", "Heron's path: /srv/two (not /srv).", None),
    ("The discount is 10 percent in March.", "The discount is 20 percent in April.", None),
    ("Rasmus lives in Aarhus.", "Rasmus's sister lives in Odense.", None),
    ("Dana likes TypeScript.", "Dana loves dark mode now.", None),
    ("Ivo runs 5 km on Tuesdays.", "Ivo runs 10 km on Sundays.", None),
    ("The room on floor 2 seats 8.", "The room on floor 3 seats 8.", None),
    ("Rafa was on call in week 9.", "Rafa is on call in week 11.", None),
    ("Rasmus lives in Aarhus.", "If it works out, Rasmus moves to Odense.", None),
    ("The owner of invoicing is Lin.", 'The old page says "the owner of invoicing is Gus".', None),
    ("Ivo prefers trains for work.", "Ivo prefers tea.", None),
    ("Link: docs/a.md", "Link: docs/b.md", None),
    ("Loom version: 2.1", "Loom version: 2.1 (stable)", None),
    ("The key is for jobs, the code for hands.", "Use the key instead of the code.", None),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "expected"), CHANGES)
def test_what_a_newer_statement_changes(old: str, new: str, expected: str | None) -> None:
    found = change_of(prior(old), prior(new))
    kind = found and (OVER if found.stated else NEXT if found.is_next else VALUE)
    assert kind == expected


@pytest.mark.parametrize(
    ("under", "changes"),
    [
        (("Shop › Kiln", "Shop › Kiln"), True),
        (("memory › 2026-03-01 › Kiln", "MEMORY › Kiln"), True),
        (("Shop › Kiln", "Kiln"), True),
        (("Shop › Kiln", "Yard › Kiln"), False),
        (("USER › Kiln", "ana › Kiln"), False),
        (("USER › Kiln", "MEMORY › Kiln"), True),
        (("USER", "MEMORY"), True),
        (("Kiln", ""), False),
        (("Shop › Kiln March 2026", "Shop › Kiln 2026-05-02"), True),
    ],
)
def test_a_key_is_of_what_it_stands_under(under: tuple[str, str], changes: bool) -> None:
    found = change_of(prior("Kiln version: 2.1", under[0]), prior("Kiln version: 2.2", under[1]))
    assert (found is not None) == changes


def test_what_two_statements_say_of_one_subject_is_no_value_of_each_other() -> None:
    texts = ("Ida Berg wants no `Sleep` in tests.", "Ida Berg wants deploys after 14:00 only.")
    rules = [Memory.of("", {"subject": "Ida Berg"}, body=text) for text in texts]
    assert change_of(*rules) is None


def test_lines_that_were_read_together_hold_unless_one_says_that_the_other_is_over() -> None:
    value, over = prior("The choir has 9 basses."), prior("The choir no longer has 7 basses.")
    old = prior("The choir has 7 basses.")
    assert change_of(old, value, together=True) is None
    assert change_of(old, over, together=True) is not None


@pytest.mark.parametrize("language", [language for language, _ in tables("change")])
def test_each_table_is_read_and_ends_something(language: str) -> None:
    found = table(language)
    assert found.ended.pattern != table("czech").ended.pattern or language == "english"
    assert found.lists
