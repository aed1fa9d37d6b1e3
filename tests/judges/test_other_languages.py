"""What a run makes of the same kinds of notes in other languages than English."""

from __future__ import annotations

import pytest
from test_offline import claimed, promoted
from test_statements import candidates

from memrepo.purify.gather import read_owners

LOG = "memory/2026-10-03.md"
SPANISH = """# Memoria a largo plazo

## Sobre Olga
- **Trabajo:** ceramista en un taller de Gijón
- No le gusta que la llamen antes de las diez

## Proyectos
### Horno nuevo
- Presupuesto máximo: 900 €
- Decidimos comprar el eléctrico porque el gas sale caro
- La garantía caduca el 4 de mayo de 2029

## Reglas
- No publicar fotos del taller sin permiso
"""
FRENCH = """# Mémoire

## Qui est Solène
- Ne pas l'appeler le dimanche
- Son frère Malo garde le chien

## À ne jamais faire
- Publier l'adresse du verger
- Couper l'eau de la serre pendant la nuit
"""
GERMAN = """# Gedächtnis

## Über Hanno
- mag keine langen Texte

## Abläufe
1. Holz bestellen
2. Aufmaß vereinbaren
3. Angebot schicken
"""
PORTUGUESE = """# MEMORY.md — O que não devo esquecer

## 1. O que não se faz
- Mandar o pomar para fora sem nota

## 2. Em dúvida
- Trocar de contador ou não

## 3. Situação
- Estado: em andamento
- Mensagens não lidas: 4

## 4. Oficina
- Próximo passo: comprar a prensa
- Rejeitado: alugar o galpão (caro demais)

## 5. Tarefas
- [x] Alvará renovado (vence em maio de 2029)
"""
KOREAN = """# 장기 기억

## 하면 안 되는 것
- 견적서를 단체방에 올리기

## 통계
- 총 주문: 1,204

## 공방
- 다음 단계: 가마 설치
- 문의는 오전에만 받을 것
"""
JAPANESE = """# 長期記憶

## ユーザーについて
- 返信は短く、敬語で書いてほしい

## ルール
- 確認なしにファイルを削除しないこと

## 【決まったこと】
- 窯は月曜に火を入れる

## ■ 状況
- ステータス：稼働中
- 備考：（特になし）

## （有）みずうみ工房
- 電話は午前のみ可
"""


@pytest.mark.parametrize(
    ("notes", "expected"),
    [
        (
            SPANISH,
            {
                "Olga – Trabajo: ceramista en un taller de Gijón": "fact",
                "Olga: No le gusta que la llamen antes de las diez": "preference",
                "Horno nuevo – Presupuesto máximo: 900 €": "fact",
                "Horno nuevo: Decidimos comprar el eléctrico porque el gas sale caro": "decision",
                "Horno nuevo: La garantía caduca el 4 de mayo de 2029": "fact",
                "No publicar fotos del taller sin permiso": "constraint",
            },
        ),
        (
            FRENCH,
            {
                "Solène: Ne pas l'appeler le dimanche": "constraint",
                "Solène: Son frère Malo garde le chien": "relationship",
                "À ne jamais faire: Publier l'adresse du verger": "constraint",
                "À ne jamais faire: Couper l'eau de la serre pendant la nuit": "constraint",
            },
        ),
        (
            GERMAN,
            {
                "Hanno: mag keine langen Texte": "preference",
                "Abläufe": "procedure",
            },
        ),
        (
            JAPANESE,
            {
                "ユーザー: 返信は短く、敬語で書いてほしい": "preference",
                "確認なしにファイルを削除しないこと": "constraint",
                "決まったこと: 窯は月曜に火を入れる": "decision",
                "（有）みずうみ工房: 電話は午前のみ可": "constraint",
            },
        ),
        (
            PORTUGUESE,
            {
                "O que não se faz: Mandar o pomar para fora sem nota": "constraint",
                "Em dúvida: Trocar de contador ou não": "open_question",
                "Oficina – Próximo passo: comprar a prensa": "commitment",
                "Oficina – Rejeitado: alugar o galpão (caro demais)": "decision",
                "Tarefas: Alvará renovado (vence em maio de 2029)": "milestone",
            },
        ),
        (
            KOREAN,
            {
                "하면 안 되는 것: 견적서를 단체방에 올리기": "constraint",
                "공방 – 다음 단계: 가마 설치": "commitment",
                "공방: 문의는 오전에만 받을 것": "fact",
            },
        ),
    ],
    ids=["Spanish", "French", "German", "Japanese", "Portuguese", "Korean"],
)
def test_a_memory_file_is_read_line_by_line_under_whom_it_is_about(
    notes: str, expected: dict[str, str]
) -> None:
    claims = claimed(*candidates(notes, "MEMORY.md"))
    assert {claim.wording.text: claim.type for claim in claims} == expected


@pytest.mark.parametrize(
    ("notes", "said"),
    [
        (
            "# 記憶\n\n## 事業：水車小屋\n\n- 担当：ハル\n- 毎晩止まります\n",
            {"事業：水車小屋 – 担当：ハル", "事業：水車小屋 – 毎晩止まります"},
        ),
        (
            "# 기억\n\n## 사업: 물레방아\n\n- 담당: 하루\n- 밤마다 멈춘다\n",
            {"사업: 물레방아 – 담당: 하루", "사업: 물레방아 – 밤마다 멈춘다"},
        ),
        (
            "# Gedächtnis\n\n## Mühle\n\n- Die Pumpe läuft jede Nacht und wird\n  früh entleert\n",
            {"Mühle: Die Pumpe läuft jede Nacht und wird früh entleert"},
        ),
        (
            "# Memoria\n\n## Molino\n\n- La bomba pierde agua. \n- Esto pasa cada invierno.\n",
            {"Molino"},
        ),
        (
            "# 記憶\n\n## 水車\n\n・毎晩ひとりでに止まる\n・請求書は毎月25日に送ります\n",
            {"水車: 毎晩ひとりでに止まる", "水車: 請求書は毎月25日に送ります"},
        ),
    ],
    ids=[
        "a-fullwidth-colon",
        "a-colon",
        "a-wrapped-line",
        "a-line-that-refers-back",
        "a-sign-of-an-item",
    ],
)
def test_a_heading_and_its_line_are_joined_as_people_write_them(notes: str, said: set[str]) -> None:
    assert {c.wording.text for c in claimed(*candidates(notes, "MEMORY.md"))} == said


def test_a_first_name_says_who_a_profile_is_about() -> None:
    owners = read_owners([("USER.md", "- **Prénom** : Noémie Aubert\n".encode())])
    assert owners.of("USER.md") == "Noémie Aubert"


@pytest.mark.parametrize(
    ("line", "lasts"),
    [
        ("Olga cumple años el 22 de febrero", True),
        ("Decisión: las fotos se guardan en el disco, no en la nube", True),
        ("Revisé el correo, nada urgente", False),
        ("Malo passe aux urgences en novembre", True),
        ("Leçon : toujours tester la restauration", True),
        ("Vérifié les sauvegardes, rien à dire", False),
        ("Mia hat am 9. Juni Geburtstag", True),
        ("Drei Anfragen beantwortet", False),
        ("Il compleanno di Ada è il 3 marzo", True),
        ("Inviato il preventivo a Rosa", False),
        ("A Joana prefere mensagens curtas", True),
        ("Criei o rascunho do contrato", False),
        ("健太さんの母の誕生日は3月8日", True),
        ("今後、請求書は毎月25日に送ること", True),
        ("A partir de ahora las facturas se envían el día 25", True),
        ("Noémie ne mange pas de gluten", True),
        ("Désormais, les factures partent le 25 du mois", True),
        ("A Rita entra de licença em agosto", True),
        ("Теперь счета отправляем 25-го числа", True),
        ("以后发票每月25号发送", True),
        ("앞으로 청구서는 매월 25일에 보낸다", True),
        ("テストを実行、12件成功しました", False),
    ],
)
def test_what_lasts_of_a_day_is_told_from_what_happened(line: str, lasts: bool) -> None:
    (verdict,) = promoted(*candidates(f"# 2026-10-03\n\n## Notes\n\n- {line}\n", LOG))
    assert (verdict.verdict == "promote") == lasts, verdict.rationale


def test_what_happened_in_a_morning_is_no_list_of_one_thing() -> None:
    for heading in ("Morning", "Tarde", "Après-midi", "Vormittag", "午前", "Sábado 18:00"):
        notes = f"# 2026-10-03\n\n## {heading}\n\n- Swept the yard\n- The gate must stay shut\n"
        assert len(candidates(notes, LOG)) == 2, heading


@pytest.mark.parametrize(
    "title",
    (
        "Long-term memory,Memoria a largo plazo,Mémoire,Langzeitgedächtnis"
        ",Notas del día,Minhas notas,Memoria a lungo termine,Долговременная память,長期記憶"
        ",长期记忆,今日のメモ,에이전트 메모리"
    ).split(","),
)
def test_the_title_of_a_memory_is_no_subject(title: str) -> None:
    claims = claimed(*candidates(f"# {title}\n\n## Orchard\n\n- Gate code lives in the shed\n"))
    assert [claim.wording.text for claim in claims] == ["Orchard: Gate code lives in the shed"]


def test_a_line_that_a_file_says_of_two_people_names_both() -> None:
    line = "- Wants the minutes of each meeting by mail on the same day\n"
    notes = f"# People\n\n## Ana\n\n{line}\n## Ben\n\n{line}\n## Notes\n\n- Ana leads\n"
    texts = [claim.wording.text for claim in claimed(*candidates(notes, "MEMORY.md"))]
    assert "People – Ana, Ben: Wants the minutes of each meeting by mail on the same day" in texts


def test_a_line_repeated_under_days_or_plain_headings_names_none() -> None:
    line = "- Minutes of the meeting go out by mail on the same day\n"
    for one, other in (("2026-02-01", "2026-02-02"), ("Rules", "Notes")):
        notes = f"# Memory\n\n## {one}\n\n{line}\n## {other}\n\n{line}"
        (claim,) = claimed(*candidates(notes, "MEMORY.md"))
        assert claim.wording.text == line[2:].strip()
