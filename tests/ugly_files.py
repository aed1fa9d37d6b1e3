"""The files of a workspace with everything that real ones hold, and worse; written by us.

Words that start with `zq` mark text that must not get further than it should: `zqfence` stands in
fenced code, `zqmanaged` in what other programs wrote, `zqheader` in frontmatter, `zqdenied` in
files that runs never read, `zqlinked` behind symlinks, `zqbroken` in files that cannot be read.
"""

from __future__ import annotations

from hostile_files import as_bytes, foreign_files, hostile_files, one
from large_files import large_files

LATIN1 = "memory/latin1.md"
NEVER_TAKEN = ("zqdenied", "zqlinked", "zqbroken")
NEVER_DISTILLED = (*NEVER_TAKEN, "zqmanaged", "zqheader")


def ugly_files() -> dict[str, bytes]:
    """Return the files of the ugly workspace by name; links are made on disk."""
    parts = (_languages(), _markdown(), foreign_files(), hostile_files(), _bytes(), large_files())
    return {name: data for part in parts for name, data in part.items()}


def _languages() -> dict[str, bytes]:
    return {
        "MEMORY.md": as_bytes("""\
# Memory

## People

- **Operator:** Ilse Brandt, beekeeper in Lindau
- Ilse prefers short answers in the morning and long ones at night. 🐝
- 用户喜欢简短的回答,不喜欢表情符号。
- 我们决定从2026年1月起每周一备份养蜂数据。
- ユーザーは朝の連絡を好み、夜の通知は望んでいません。
- 사용자는 항상 커밋 전에 테스트를 실행하기로 결정했습니다.
- Мы решили хранить журналы ульев только в одном репозитории.
- Íñigo préfère le café sans sucre, toujours à 7 h précises.
- Ilse's sister Maren has been allergic to propolis since childhood.

## Rules

- Never push to the main branch without a review by Ilse.
- **Backup time:** 03:30 every night (2026-01-02)
- **Backup time:** 04:15 every night (2026-02-11)
- The API limit of the weather service is 1,000 calls a day → cache for 15 minutes.
- [x] Decided on 2026-01-20: all hive scales report to one broker.
- [ ] Promised Maren to send the honey ledger by 2026-03-31.
- ~~The broker listens on port 1882.~~ The broker listens on port 8883.

## Rules

- Never push to the main branch without a review by Ilse.
- The second heading of the same name holds a rule of its own: always label the frames.

## Dates

- 15 January 2026: Ilse moved the apiary to the south slope.
- January 16, 2026: the extractor was repaired by Koch & Sons.
- 17.01.2026: the customs office released the queen shipment.
- 03/04/2026: the date of this line can be read in two ways.
- 2026年1月18日:冬季用の餌を交換することに決めた。
- Yesterday we agreed to sell no comb honey this year.
- The contract with the mill runs until 2027-12-31.
"""),
        "RTMEMORY.md": as_bytes("""\
# Lessons

- Lesson: always cool the extractor down before cleaning, because hot wax clogs the pump.
- 教訓:デプロイの前に必ずデータベースのバックアップを取ること。
- Ошибка: нельзя перезапускать брокер, пока весы передают данные.
- 🔥🔥🔥
- Never push to the main branch without a review by Ilse.
- ok
"""),
        "CHRONICLES.md": one(
            "Chronicles",
            "2025-09-01: The first honey was sold at the market in Lindau.",
        ),
        "DREAMS.md": one(
            "Dreams",
            "Ilse hopes to open a small school for beekeepers one day.",
        ),
        "episodes/2026-01-08.md": as_bytes("""\
# The swarm on the church roof

On 2026-01-08 a swarm settled on the roof of St. Stephan. Ilse and Maren took it down with a
borrowed ladder. We decided to keep it in hive nine and to name the queen Agathe.

```
zq is fine here: an episode is kept whole
```
"""),
        "PROCEDURES.md": as_bytes("""\
# Procedures

## Harvest a hive

1. Smoke gently.
2. Take at most four frames.

```sh
# not a heading
scales tare --hive 9
```

## 🧯 Sensor offline

Restart the broker first, then the gateway; never both at once.

## Empty
"""),
    }


def _markdown() -> dict[str, bytes]:
    deep = "".join(f"{'  ' * n}- level {n} of a very deep list\n" for n in range(300))
    nested = "\n".join(
        (
            "- The apiary has three sites that need different care:",
            "  - South slope: the hives must be shaded from June on",
            "    - Hive nine: the queen is Agathe and she is two years old",
            "      - Her line came from Lunz and is marked blue",
            "        - The certificate number is kept in the green folder at home",
            "  - Mill meadow: it floods each March, so the stands are raised by 40 cm",
        )
    )
    return {
        "memory/structure.md": as_bytes(f"""\
# Structure

{nested}

- An item with two blocks: the scale was calibrated by Koch in January.

  Its second paragraph says the next calibration is due after 5,000 readings.

| Hive | Queen | Decided |
|------|-------|---------|
| 9    | Agathe | requeen in 2027, because she is calm |
| 10 \\| 11 | Berta | never merge these two colonies |

> A quote: zqquote is what somebody else said.

A paragraph that stands alone: the insurance covers theft of hives but not vandalism.
It goes on in a second line.

Title by underline
------------------

- Under the underlined title: the gate code is changed every quarter.
* A star bullet: the trailer must be weighed before each trip.
+ A plus bullet: Koch & Sons closes on Wednesdays.
1. A numbered one: first the veil, then the gloves, without exception.
"""),
        "memory/code.md": as_bytes("""\
# Code

- Before the fence: the exporter always writes UTC times.

```markdown
# zqfence heading
- zqfence bullet that must never become a memory
```

~~~
- zqfence with tildes
~~~

    - zqfence indented four blanks after a blank line is code

- After the fence: the importer rejects files without a header.

```python
- The open fence hides nothing of what follows it.
"""),
        "memory/deep.md": as_bytes(f"# Deep\n\n{deep}\n- After the deep list.\n"),
        "memory/html.md": as_bytes("""\
# HTML

- <b>Bold by tag:</b> the label printer needs <script>alert(1)</script> driver 7.
- A table in a bullet | must | not | break | the view of the label printer.
- An open comment <!-- must never hide what stands after it in the label printer's page.
- The label \\<h1>printer\\</h1> must </blockquote><h1>never</h1> leave its quote.
- [A link](javascript:alert(1)) and ![an image](http://example.invalid/x.png) of the printer.

<div>
- zqfence inside an HTML block
</div>
"""),
        "memory/empty.md": b"",
        "memory/blank.md": b"  \n\n\t\n",
        "memory/header.md": b"""\
---
name: zqheader
topics: [bees, honey]
updated: 2026-01-05
---
- With a header: the wax press was lent to the museum until autumn.
""",
        "memory/header-colon.md": b"""\
---
title: zqheader: a colon in a value
---
- With a bad header: the museum pays 40 euro for the wax press.
""",
        "memory/header-open.md": b"""\
---
title: never closed
- The header above is never closed, so this line is text: the press weighs 80 kilograms.
""",
        "memory/header-list.md": b"""\
---
- a header that is a list
- second
---
- A list as header: the press has two handles that must be oiled.
""",
        "memory/header-bomb.md": b"""\
---
a: &a [lol, lol, lol, lol, lol, lol, lol, lol, lol]
b: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a]
c: &c [*b, *b, *b, *b, *b, *b, *b, *b, *b]
d: &d [*c, *c, *c, *c, *c, *c, *c, *c, *c]
e: &e [*d, *d, *d, *d, *d, *d, *d, *d, *d]
f: &f [*e, *e, *e, *e, *e, *e, *e, *e, *e]
loop: &loop [*loop]
---
- Behind the bomb: the cellar must stay below 12 degrees.
""",
    }


def _bytes() -> dict[str, bytes]:
    return {
        "memory/crlf.md": (
            b"# CRLF\r\n\r\n- Windows wrote this: the scanner must be restarted weekly.\r\n"
            b"- Its second line is plain.\r\n"
        ),
        "memory/mixed.md": (
            b"# Mixed\n\n- LF line: the freezer holds 40 frames.   \n"
            b"- CRLF line: the freezer must be defrosted in May.\r\n"
            b"- lone\rcarriage return line: the freezer hums.\n"
            b"- No line end at the end: the freezer has a lock"
        ),
        "memory/bom.md": (
            b"\xef\xbb\xbf# BOM\n\n"
            b"- A byte order mark stands before the title: the van must be serviced in June.\n"
        ),
        LATIN1: b"# Latin-1\n\n- zqbroken caf\xe9 must always be quarantined.\n",
        "memory/nul.md": one(
            "NUL",
            "zqbroken has a NUL \x00 byte.",
        ),
    }
