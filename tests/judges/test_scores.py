"""Which words of a person count for and against a text, and how much it tells."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrepo.core.judge import Candidate
from memrepo.judges.scores import detail, score


def codes(text, *context, **changes):
    made = Candidate(candidate_id="cand-1", text=text, context=context, **changes)
    return score(made)[1]


def strength(text, *context):
    return score(Candidate(candidate_id="cand-1", text=text, context=context))[0].strength


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("We painted the old shed behind the mill last summer", "detail"),
        ("I keep two bees' hives on the roof", "first_person"),
        ("Wir haben das Dach neu gedeckt", "first_person"),
        ("我们在上海有一家茶馆", "first_person"),
        ("I sold the boat to a neighbour", "past_event"),
        ("We've moved the mail server", "past_event"),
        ("I recently took a course in welding", "past_event"),
        ("Ich habe den Server umgezogen", "past_event"),
        ("I'm learning to play the cello", "under_way"),
        ("The team is going to drop the old client", "under_way"),
        ("Ann plans to open a bakery", "under_way"),
        ("The roof was repaired three years ago", "when"),
        ("Gestern kam der neue Kessel", "when"),
        ("Wow, the roof garden has room for bees", "reaction"),
        ("Your roof garden has room for bees", "addressed"),
        ("The roof garden has room for bees!", "exclaims"),
        ("Sounds great!", "small_talk"),
        ("That's so cool, Ann!", "small_talk"),
        ("Thanks so much, Ann.", "small_talk"),
        ("Glad you liked it!", "small_talk"),
        ("Good morning Ann, how are you?", "reader_question"),
        ("How's it going?", "reader_question"),
    ],
)
def test_what_a_text_shows(text, code):
    assert code in codes(text)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("The mill opens at nine", "first_person"),
        ("Did I sell the boat to a neighbour?", "past_event"),
        ("Did you move there last year?", "addressed"),
        ("Was that three years ago?", "when"),
        ("Likes tea", "detail"),
        ("No deploys on Fridays", "small_talk"),
        ("Great Danes need space", "small_talk"),
        ("Good coffee only", "small_talk"),
        ("Hello world is the first page", "small_talk"),
        ("No, the mirror in Kiel keeps all releases of the old client", "small_talk"),
        ("Should the mirror move?", "reader_question"),
        ("Ann asked how are you paid", "reader_question"),
    ],
)
def test_what_a_text_does_not_show(text, code):
    assert code not in codes(text)


def test_an_answer_is_what_stands_under_a_question():
    assert "answers" in codes("In the attic", "Where are the old prints?")
    assert "answers" in codes("在阁楼", "旧照片在哪里？")
    assert "answers" not in codes("In the attic", "Where are the old prints?", "Prints")
    assert "answers" not in codes("In the attic", "Old prints")


@pytest.mark.parametrize("hint", ["episode", "method", "procedure"])
def test_documents_are_not_read_as_talk(hint):
    shown = codes("Wow, we sold your old boat to a neighbour last year!", type_hint=hint)
    talk = {"detail", "reaction", "first_person", "past_event", "when", "addressed", "exclaims"}
    assert not talk & set(shown)


@pytest.mark.parametrize("hint", ["episode", "method"])
def test_a_document_of_a_day_is_no_line_of_a_log(hint):
    text = "2026-02-14. The rye was salted twice, and nobody tasted it before the load."
    assert "daily" not in codes(text, type_hint=hint, daily=True)
    assert "daily" in codes(text, type_hint="fact", daily=True)


@pytest.mark.parametrize(
    ("told", "share"),
    [
        ("", 0.0),
        ("Ann lives near Kiel", 0.0),
        ("just really some more good things and nice stuff", 0.0),
        (" ".join(f"word{n}" for n in range(20)), 1.0),
        (" ".join(f"word{n}" for n in range(200)), 1.0),
        ("tea " * 50, 0.0),
    ],
)
def test_detail_counts_different_words_of_content(told, share):
    assert detail(told) == share


@given(st.lists(st.sampled_from([f"word{n}" for n in range(40)]), max_size=30))
def test_more_words_never_tell_less(words):
    shares = [detail(" ".join(words[:n])) for n in range(len(words) + 1)]
    assert shares == sorted(shares)
    assert all(0.0 <= share <= 1.0 for share in shares)


@pytest.mark.parametrize(
    ("fact", "talk"),
    [
        ("I adopted two cats from the shelter in Kiel last spring", "Wow, two cats, lucky you!"),
        ("We've rented the hall on Mill Lane for the March concert", "That's great, good luck!"),
        ("My sister Ann started a pottery class in June", "What kind of class does she take?"),
        ("I'm training for the harbour marathon with my brother", "You can do it, keep going!"),
    ],
)
def test_a_fact_told_outweighs_a_reaction_to_it(fact, talk):
    assert strength(fact) > strength(talk) + 0.4


@pytest.mark.parametrize(
    ("text", "heading", "code"),
    [
        ("Task: #652; Topic: Honey; Status: backlog", "Topics", "tracked"),
        ("- Visits: 812\n- Orders: 14 (week)\n- from the fair", "Current metrics", "counters"),
        ("- 访问: 812\n- 订单: 14", "数据概览", "counters"),
        ("Última atualização: 2026-04-03", "Anna", "metadata"),
        ("Adicionar sempre que surgir uma ideia, mesmo solta.", "Ideias", "about_file"),
    ],
)
def test_what_moves_on_is_noise(text, heading, code):
    assert code in codes(text, heading)


@pytest.mark.parametrize(
    ("text", "heading"),
    [
        ("- Gateway: 8443\n- Mirror: 9000", "Ports"),
        ("- Visits are counted: each night\n- Orders: by the shop", "Metrics"),
        ("Bug #12 taught us to lock the row first", "Lessons"),
        ("Status: retired, since the mill burnt down", "Mill"),
    ],
)
def test_what_holds_on_is_none(text, heading):
    assert not {"tracked", "counters", "metadata", "about_file"} & set(codes(text, heading))
