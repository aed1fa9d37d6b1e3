"""The tools that write: each is one command, one validated commit, for the reason it names."""

from __future__ import annotations

from memrepo.actions.work import Answer
from memrepo.faces.mcp.calls import Call
from memrepo.faces.mcp.reading import MAX_TOKENS, report
from memrepo.faces.mcp.replies import Reply
from memrepo.views.context import fenced


def store(call: Call) -> Reply:
    """Write a memory, or answer with the one that says this already."""
    tags = [*call.get("tags", ())]
    kind = [f"--type={call.get('type')}"] if call.get("type") else []
    return _written(
        call.write(
            "add",
            ["-", *kind],
            cls=call.get("decay_class"),
            tag=tags,
            valid_until=call.get("valid_until"),
        )
    )


def supersede(call: Call) -> Reply:
    """Replace a memory by what holds now; the old one stays in history, out of recall."""
    return _written(call.write("supersede", ["ID", "-"], id=call.get("id")))


def forget(call: Call) -> Reply:
    """Take a memory out of recall; its file and history stay."""
    return _written(call.write("forget", ["ID"], id=call.get("id")))


def restore(call: Call) -> Reply:
    """Bring a memory back, instead of what replaced it or beside it."""
    how = [f"--{call.get('how')}"] if call.get("how") else []
    return _written(call.write("restore", ["ID", *how], id=call.get("id")))


def accept(call: Call) -> Reply:
    """Let a waiting run take effect, or part of it."""
    answer = call.write(
        "accept",
        run=call.get("run"),
        only=[*call.get("only", ())],
        without=[*call.get("except", ())],
    )
    return report(answer, MAX_TOKENS)


def revert(call: Call) -> Reply:
    """Take back a run, a commit, or what was last decided of a memory."""
    return report(call.write("revert", target=call.get("target")), MAX_TOKENS)


def _written(answer: Answer) -> Reply:
    data, found = answer.data, {k: answer.data[k] for k in ("id", "commit")}
    unchanged = str(data.get("unchanged", ""))
    text = (
        f"{data['id']} {unchanged}: nothing written"
        if unchanged
        else (f"{data['op']} {data['id']} in commit {found['commit'][:10]}")
    )
    more = {"unchanged": unchanged} if unchanged else {}
    if answer.problems:
        noticed = fenced("\n".join(str(p) for p in answer.problems[:5]))
        return Reply(text=f"{text}\n{noticed}", data={**found, **more, "noticed": noticed})
    return Reply(text=text, data={**found, **more})
