"""A client that looks tools up by words finds ours among many: ten requests, sixty other tools."""

from __future__ import annotations

import math
import re
from collections import Counter

from memrepo.faces.mcp.tools import DEFAULT

REQUESTS = {
    "Remember that I prefer tea over coffee": "memory_store",
    "Please save this preference for next time": "memory_store",
    "Note that the standup moved to nine": "memory_store",
    "Recall what we decided about the budget": "memory_search",
    "Look up what is known about my sister": "memory_search",
    "Find my preference for code style in memory": "memory_search",
    "Correct that: my editor is helix now": "memory_supersede",
    "Update the memory of where I live": "memory_supersede",
    "Forget my old phone number": "memory_forget",
    "Delete the memory about the gym": "memory_forget",
}
FOREIGN = """
file_read: Read a file from disk and return its text.
file_write: Write text to a file on disk, replacing what was there.
file_delete: Delete a file or an empty folder.
file_search: Search files by name or by what they hold.
file_move: Move or rename a file.
folder_list: List what a folder holds, with sizes and dates.
shell_run: Run a command in a shell and return what it printed.
python_run: Run a piece of Python in a sandbox.
web_search: Search the web and return titles, addresses and excerpts.
web_fetch: Fetch a page from the web as markdown.
web_screenshot: Take a picture of a page.
browser_click: Click on an element of the open page.
browser_type: Type text into a field of the open page.
mail_search: Search mail by sender, subject or text.
mail_read: Open one message by its number.
mail_send: Send a message to one or more people.
mail_archive: Move a message out of the inbox.
mail_label: Add or remove labels of a message.
calendar_list: List events between two dates.
calendar_create: Create an event with title, time and guests.
calendar_update: Update an event: time, place or guests.
calendar_delete: Delete an event and tell its guests.
calendar_free: Find a time when all guests are free.
contacts_find: Find a contact by name, phone number or address.
contacts_save: Save a new contact with phone number and address.
tasks_list: List open tasks of a project.
tasks_add: Add a task with a due date.
tasks_done: Mark a task as done.
issue_create: Open an issue in a repository.
issue_comment: Comment on an issue or pull request.
issue_close: Close an issue with a reason.
pull_open: Open a pull request from a branch.
pull_review: Review a pull request: approve or ask for changes.
repo_search: Search code in repositories.
repo_commits: List the commits of a branch.
build_status: Tell whether the last build passed.
deploy_start: Deploy a version to an environment.
deploy_undo: Go back to the version deployed before.
logs_search: Search logs of a service by time and words.
metrics_query: Query a metric over a span of time.
alerts_list: List alerts that are firing.
database_query: Run a query that reads from the database.
database_schema: Show tables and columns of the database.
sheet_read: Read cells of a spreadsheet.
sheet_update: Update cells of a spreadsheet.
document_create: Create a document with a title and text.
document_comment: Comment on a passage of a document.
slides_export: Export slides as a document for print.
chat_post: Post a message to a channel.
chat_history: Read the latest messages of a channel.
chat_react: React to a message with a sign.
translate_text: Translate text into another language.
image_make: Make a picture from a description.
image_describe: Describe what a picture shows.
audio_transcribe: Write down what is said in a recording.
map_route: Find a route between two places.
map_places: Find places near an address.
weather_now: Tell the weather at a place, now or on a day.
money_convert: Convert an amount between currencies.
time_zone: Tell what time it is in a place.
"""
CATALOGUE = {
    **dict(line.split(": ", 1) for line in FOREIGN.strip().splitlines()),
    **{tool.name: f"{tool.title}. {tool.description}" for tool in DEFAULT},
}
SMALL = frozenset(
    "a an and as at by for from in is it my of on or that the this to we what".split()
)


def words(text: str) -> list[str]:
    """Return the words of a text that tell one from another; names are cut at underscores."""
    return [w for w in re.findall(r"[a-z]+", text.lower()) if w not in SMALL]


TEXTS = {name: words(f"{name} {about}") for name, about in CATALOGUE.items()}
HOLDERS = Counter(word for text in TEXTS.values() for word in set(text))


def found(request: str) -> str:
    """Return the tool that shares most with a request: rare words more, in short texts more."""
    usual = sum(map(len, TEXTS.values())) / len(TEXTS)

    def score(name: str) -> float:
        counts, length = Counter(TEXTS[name]), 0.25 + 0.75 * len(TEXTS[name]) / usual
        return sum(
            math.log(1 + len(TEXTS) / HOLDERS[word])
            * counts[word]
            * 2.2
            / (counts[word] + 1.2 * length)
            for word in set(words(request))
            if counts[word]
        )

    return max(sorted(TEXTS), key=score)


def test_nine_of_ten_requests_find_the_right_tool_first_among_sixty_others() -> None:
    assert len(CATALOGUE) == 60 + len(DEFAULT)
    wrong = {asked: found(asked) for asked, wanted in REQUESTS.items() if found(asked) != wanted}
    assert len(wrong) <= 1, wrong
