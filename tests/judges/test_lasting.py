"""What of a daily log becomes a claim, and what of any file is a form, a label or metadata."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from test_statements import candidates

from memrepo.core.judge import PromotionRequest
from memrepo.judges.lasting import DAILY_WEIGHTS, traits
from memrepo.judges.noise import is_listing
from memrepo.judges.offline import OfflineJudge

NOW = datetime(2026, 3, 1, tzinfo=UTC)
LOG = "memory/2026-02-07.md"


def verdicts(text: str, name: str) -> list[tuple[str, str]]:
    """Return verdict and rationale of each candidate of a source."""
    asked = PromotionRequest(
        run="r", profile="personal", now=NOW, candidates=tuple(candidates(text, name))
    )
    return [(v.verdict, v.rationale) for v in OfflineJudge().promote(asked)]


@pytest.mark.parametrize(
    "line",
    [
        "## Decisions\n\n- The pump must never run without water in the tank",
        "## Lessons\n\n- `make lint` needs the locked packages, because the newest ruff differs",
        "## Pumps\n\n- The mill's pump uses the relay board on port 3, not the one on port 2",
        "## Pumps\n\n- Allowed valves: `north` and `mill`, because the others leak",
        "## Taller\n\n- Aprendido: si la bomba cambia de ruido, toca cambiar nuestra correa",
        "## 作業\n\n- ポンプの音が変わったら点検、という教訓",
        "## Notes\n\n- **Decision:** Build our own gauge instead of theirs, `gauge.sh`",
        "## Regras\n\n- Sempre fechar a válvula antes de desligar a bomba do poço",
        '- Vera: "please stop sending me the price of rye, I never look at it"',
        '- Vera: "from now on send the digest at 6:30"',
        '- Vera: "a sack costs 9 euros from July"',
        '- Vera: "el saco sube a 9 euros desde julio"',
        "- We decided to sell the old millstone",
        "- Wir haben beschlossen, den alten Mühlstein zu verkaufen",
        "- Decidimos vender la piedra vieja",
        "- Vera: „bitte nie wieder vor acht anrufen“",
        "- Vera：“以后不要再发早报了”",
        "- Decided: the mill grinds no more rye, it clogs the stones.",
        "- Beschlossen: wir mahlen keinen Roggen mehr.",
        "- 决定：周一不开门。",
        "- The mill's page moved from Oakhost to Elmhost today.",
        "- New contact at the quarry from January: Paolo.",
        "- The quarry closes from 20 December to 8 January.",
        "- Neue Adresse der Werkstatt: Lendkai 12.",
        "- Le cours de tissage passe au jeudi à 18 h.",
        "- Mit Herrn Falk vereinbart: Miete erst ab dem 10. fällig.",
        "- 会议改为每周四下午。",
    ],
)
def test_what_lasts_in_a_log_is_a_claim(line: str) -> None:
    assert [v for v, _ in verdicts(f"# 2026-02-07\n\n{line}\n", LOG)] == ["promote"]


@pytest.mark.parametrize(
    "line",
    [
        "## 14:20 Heartbeat\n\n- Checked the inbox at 14:20",
        "## Execution\n\n- Updated PR #667 with the new colours",
        "- Subida la foto 4 de 12 al disco",
        "- Le propuse tres colores para la rueda",
        "## Progress\n\n- Status: the import ran through",
        "## 10:00 Chat\n\n- **Ana** (T:3): I went to the market with my sister, you know",
        "## Site\n\n- 2026-02-07 Europe/Lisbon: Ran the digest of the mail with `mail list` again",
        "## Site\n\n- Vera asked how the groups work. Read all of `docs/groups.md`",
        "## Reviews of PR #12\n\n- `form.ts` line 9: an empty string, not a null",
        "## Docs updated\n\n- `docs/mill.md` — prices of the new wheel",
        "## Site\n\n- Page widened: `narrow` → `wide`",
        "## 10:00 Chat\n\n- **Ben:** What did you buy there?",
        "## Site\n\n- Reviewed the log of Monday: no new durable facts were found",
        "## Site\n\n- The first download of the wheel's plan, `plan.pdf`, returned 404",
        "## Site\n\n- Looked through `plans/` for the belt and found no drawing, because it is old",
        "## O que aconteceu\n\n- Painel do moinho com defeito na correia",
        "## Site\n\n- Fixed the header of the price page because it contained a colon",
        "## Site\n\n- I can move these pages to `docs/old/` while keeping the index",
        "## Work at 10:12\n\n- **Decision:** No new work, the belt dries",
        "## Work at 10:12\n\n- **Decision:** No urgent repair work found, nothing to mend",
        '- Vera: "thanks for the flour, it is lovely"',
        '- Vera: "can you stop the wheel?"',
        "- Called the bank, nobody answered.",
        "- Ordered three belts, number 88213",
        "- Drei Briefe beantwortet, Mühle geputzt.",
    ],
)
def test_what_happened_stays_in_the_note(line: str) -> None:
    assert [v for v, _ in verdicts(f"# 2026-02-07\n\n{line}\n", LOG)] != ["promote"]


def test_what_a_turn_of_a_transcript_answers_is_no_claim_and_a_log_of_the_same_words_is() -> None:
    advice = "## Belt\n\n- The mill's belt needs `belt-wax`, because the old one leaks\n"
    turns = "# Session: 2026-02-07\n\n## Conversation Summary\n\nuser: hm\nassistant: well\n\n"
    assert [v for v, _ in verdicts(f"# 2026-02-07\n\n{advice}", LOG)] == ["promote"]
    assert "promote" not in [v for v, _ in verdicts(turns + advice, LOG)]


@pytest.mark.parametrize(
    ("line", "noise"),
    [
        ("- Pronouns:", "unfilled"),
        ("- **Blockers:** none known", "unfilled"),
        ("- **Bloqueios:** nenhum conhecido", "unfilled"),
        ("- **Next step:** to be defined", "unfilled"),
        ("- _(what do they care about?)_", "in_brackets"),
        ("- **Symptoms of the fault:**", "unfilled"),
        ("- **Source**: a chat", "metadata"),
        ("- Date added: 2026-03-14", "metadata"),
        ("- **Дата добавления:** 2026-03-14", "metadata"),
        ("- **Title:** “Why mills turn”", "title"),
        ("- 帖子：「水车为什么转」", "title"),
        ("*Established: 2026-03-16*", "metadata"),
        ("*Agreed: 2026-03-16*\n*Made stricter: 2026-03-18 after the flood*", "metadata"),
        ("- **作者:** 小海", "metadata"),
        ("## Entry\n\nWhat happened:\nWhat to do:", "unfilled"),
        ("## 讨论\n\n- **时间：** 2026-02-07 20:00\n- **讨论者：** 小海", "metadata"),
        ("- **Ratified by:** [user / consensus / default]", "form"),
        ("Cluster: garden → [[[well.md]], [[pump.md]]] | theme: water", "edges"),
        ("- **Photo**: https://a.example/" + "x" * 130, "long_link"),
        ("**[Date]** — [What happened] [who:name]", "form"),
        ("This file holds what the garden needs.", "about_file"),
        ("text\nassistant: let me look at the file again\n", "transcript"),
    ],
)
def test_forms_labels_and_metadata_are_no_memories(line: str, noise: str) -> None:
    [(verdict, rationale)] = verdicts(f"# Garden\n\n{line}\n", "memory/garden.md")
    assert (verdict, noise in rationale.split(",")) == ("reject", True)


@pytest.mark.parametrize(
    "line",
    [
        "- **Source:** https://a.example/repo",
        "- **Dashboard:** https://dash.a.example",
        "- **Offen:** montags bis neun",
        "- Set `<host>` and `<port>` in the file that the mill reads at its start",
    ],
)
def test_a_value_that_says_something_is_kept(line: str) -> None:
    [(verdict, _)] = verdicts(f"# Garden\n\n## Mill\n\n{line}\n", "memory/garden.md")
    assert verdict == "promote"


def test_what_a_profile_came_with_is_a_template_and_what_a_person_wrote_is_not() -> None:
    came = "# TOOLS.md - Local Notes\n\n## What Goes Here\n\n- Names of cameras and speakers\n"
    wrote = "# TOOLS.md - Local Notes\n\n## Cameras\n\n- The shed camera is at 10.0.0.7\n"
    assert verdicts(came, "TOOLS.md") == [("reject", "base_fact,uncurated,template")]
    assert [v for v, _ in verdicts(wrote, "TOOLS.md")] == ["promote"]


def test_every_sign_has_a_weight() -> None:
    shown = {
        sign
        for text in ("ok", "I said: you must! why? at 10:00 → done ✅ `x` 5% PR #12 fixed" * 3)
        for c in candidates(f"# a\n\n## Decisions today 10:00\n\n- [ ] {text} and so on\n", LOG)
        for sign in traits(c)
    }
    assert len(shown) > 5
    assert shown <= DAILY_WEIGHTS.keys()


@pytest.mark.parametrize(
    ("card", "verdict"),
    [
        ("**Author:** Bo\n**Parts:**\n- The wheel turns at night\n- Oats are dear", "promote"),
        ("**Author:** Bo\n**Date:** 2026-02-07\n**Parts:**\n- **Time:** 10:00", "reject"),
    ],
)
def test_who_wrote_a_section_says_nothing_of_what_it_holds(card: str, verdict: str) -> None:
    parts = "".join(f"### Part {n}\n\nOats.\n\n" for n in range(4))
    text = f"# Mill\n\n## Why\n\n## How\n\n{parts}## Wheel\n\n{card}\n"
    assert verdicts(text, "memory/mill.md")[-1][0] == verdict


def test_a_card_below_the_title_that_says_when_a_file_was_made_is_no_memory() -> None:
    card = "# Of mills\n\n**Time:** 2026-02-07 22:25\n**Theme:** what millers say\n"
    assert [v for v, _ in verdicts(card, "memory/mill.md")] == ["reject"]
    assert [v for v, _ in verdicts(card.replace("Time", "Mill"), "memory/mill.md")] == ["promote"]


@pytest.mark.parametrize(
    ("title", "verdict"),
    [
        ("Mill report - 2026-02-07 16:20", "reject"),
        ("Mill at 16:20 and after", "promote"),
        ("Mill\n\n## Night of 2026-02-07 06:17 UTC", "defer"),
        ("Mill\n\n## Night at 06:17", "promote"),
    ],
)
def test_a_report_of_an_hour_is_read_as_a_log(title: str, verdict: str) -> None:
    text = f"# {title}\n\n### Wheel\n\n- Checked the belt of the big wheel and then the small one\n"
    assert [v for v, _ in verdicts(text, "memory/mill.md")] == [verdict]


@pytest.mark.parametrize(
    ("rows", "listing"),
    [
        (("**On mills**", "**Author:** Bo", "**作者：** 老周", "**Of water**"), True),
        (("**Author:** Bo", "The wheel turns at night.", "Oats are cheap."), False),
    ],
)
def test_titles_with_their_authors_are_a_listing(rows: tuple[str, ...], listing: bool) -> None:
    assert is_listing(rows) is listing
