"""The tools that write: each is one command, one validated commit, for the reason it names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from memrepo.core.errors import MemrepoError
from memrepo.faces.mcp.calls import Done, ToolCall
from memrepo.faces.mcp.read_tools import MAX_TOKENS, report
from memrepo.faces.mcp.replies import Reply, refusal
from memrepo.views.context import fenced

Given = Mapping[str, Any]


def store(call: ToolCall) -> Reply:
    """Write a memory, or answer with the one that says this already; or several, a commit each."""
    entries = [dict(entry) for entry in call.get("memories", ())]
    if not entries:
        return _written(_add(call, call.arguments))
    if call.get("text"):
        entries.insert(0, {"text": call.get("text")})
    return _several(call, entries)


def _add(call: ToolCall, said: Given) -> Done:
    return call.write(
        "add",
        text=said.get("text", ""),
        type=said.get("type") or call.get("type", "fact"),
        cls=call.get("decay_class"),
        tags=tuple(said.get("tags") or call.get("tags", ())),
        valid_until=call.get("valid_until"),
    )


def _several(call: ToolCall, entries: Sequence[Given]) -> Reply:
    """Write one after the other; one that is refused does not keep the others out.

    With `expected_commit` the first builds on that commit, and each further one on the one before.
    """
    told, stored, commit = list[str](), list[Given](), ""
    for number, entry in enumerate(entries, 1):
        call.work.call.tick(f"{number} of {len(entries)}")
        try:
            one = _written(_add(call, entry))
        except MemrepoError as error:
            one = refusal(error)
            stored.append({"refused": one.data["error"]["message"]})
        else:
            stored.append(one.data)
            if one.data["commit"]:
                commit = one.data["commit"]
                call = _after(call, commit)
        told.append(f"{number}. {one.text}")
    ids = [one["id"] for one in stored if "id" in one]
    return Reply(
        text="\n".join(told),
        data={"id": ids[0] if ids else "", "commit": commit, "stored": stored},
        failed=not ids,
    )


def _after(call: ToolCall, commit: str) -> ToolCall:
    if not call.get("expected_commit"):
        return call
    return replace(call, arguments={**call.arguments, "expected_commit": commit})


def supersede(call: ToolCall) -> Reply:
    """Replace a memory by what holds now; the old one stays in history, out of recall."""
    return _written(call.write("supersede", id=call.get("id"), text=call.get("text")))


def forget(call: ToolCall) -> Reply:
    """Take a memory out of recall; its file and history stay."""
    return _written(call.write("forget", id=call.get("id")))


def restore(call: ToolCall) -> Reply:
    """Bring a memory back, instead of what replaced it or beside it."""
    how = {call.get("how"): True} if call.get("how") else {}
    return _written(call.write("restore", id=call.get("id"), **how))


def accept(call: ToolCall) -> Reply:
    """Let a waiting run take effect, or part of it."""
    answer = call.write(
        "accept",
        run=call.get("run"),
        only=tuple(call.get("only", ())),
        without=tuple(call.get("except", ())),
    )
    return report(answer, MAX_TOKENS)


def revert(call: ToolCall) -> Reply:
    """Take back a run, a commit, or what was last decided of a memory."""
    return report(call.write("revert", target=call.get("target")), MAX_TOKENS)


def _written(done: Done) -> Reply:
    data, notices = done.data, done.result.notices
    found = {k: data[k] for k in ("id", "commit")}
    unchanged = str(data.get("unchanged", ""))
    text = (
        f"{data['id']} {unchanged}: nothing written"
        if unchanged
        else (f"{data['op']} {data['id']} in commit {found['commit'][:10]}")
    )
    more = {"unchanged": unchanged} if unchanged else {}
    if notices:
        noticed = fenced("\n".join(str(p) for p in notices[:5]))
        return Reply(text=f"{text}\n{noticed}", data={**found, **more, "noticed": noticed})
    return Reply(text=text, data={**found, **more})
