"""A Messages API on this machine: what a model could answer, and how a service can fail.

The real SDK talks to it over HTTP. Each request takes the next act of the script; when the script
is at its end, every answer is a good one.
"""

from __future__ import annotations

import json
import re
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

FENCED = re.compile(r"<<<data ([0-9a-f]{16})\n(.*?)\n\1 data>>>", re.DOTALL)
USED = {
    "input_tokens": 100,
    "output_tokens": 50,
    "cache_creation_input_tokens": 20,
    "cache_read_input_tokens": 10,
}


FILE = re.compile(r"=== (F\d+) (\S+)")
LINE = re.compile(r"(\d+) (?:\+ )?(.+)")
MARKER = re.compile(r"^\s*(?:(?:[-*+]|\d+[.)])\s+)?(?:\[[ xX]\]\s+)?")


def shown(question: str) -> str:
    """Return what a question holds as data, as text."""
    return "\n".join(body for _, body in FENCED.findall(question))


def evidence(question: str) -> dict[str, Any]:
    """Return what a question holds as JSON data; nothing of documents."""
    try:
        found: dict[str, Any] = json.loads(shown(question))
    except ValueError:
        return {}
    return found


def operations(question: str) -> list[dict[str, Any]]:
    """Return an operation for each line of the documents, in the words of the line."""
    found: list[dict[str, Any]] = []
    file = ""
    for row in shown(question).splitlines():
        if head := FILE.match(row):
            file = head[1]
        elif file and (line := LINE.match(row)) and not line[2].lstrip().startswith("#"):
            text = MARKER.sub("", line[2])
            if len(text) >= 10 and re.search(r"\w", text):
                said = {"op": "add", "lines": f"{file}:{line[1]}", "text": text[:300]}
                found.append({**said, "type": "fact"})
    return found


def checked(question: str, stated: Callable[[dict[str, Any]], bool] = lambda _: True) -> str:
    """Return a sound answer whether evidence states each wording of a question."""
    rows = [(r["id"], stated(r)) for r in evidence(question)["items"] if "id" in r]
    said = [{"id": i, "stated": yes, "reason": "" if yes else "it differs"} for i, yes in rows]
    return json.dumps({"assessments": said})


def good(question: str) -> str:
    """Answer a question as it should be answered."""
    found = evidence(question)
    if "items" in found:
        return checked(question)
    if "=== F" not in shown(question):
        return json.dumps({"changes": [], "page": []})
    return json.dumps({"operations": operations(question)})


@dataclass(frozen=True, kw_only=True)
class Act:
    """What the service does with one request: a status, or an answer and how it is sent."""

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    answer: Callable[[str], str] = good
    stop: str = "end_turn"
    used: dict[str, Any] | None = field(default_factory=lambda: dict(USED))
    """The usage that the answer tells; None counts four bytes a token."""
    cut_after: int | None = None
    """Close the connection after so many bytes of the body."""
    silent: bool = False
    """Never answer."""
    raw: bytes | None = None
    """Send this instead of a message."""


@dataclass
class Service:
    """The running server: its script, and every request body that came in."""

    url: str = ""
    script: list[Act] = field(default_factory=list)
    default: Act = field(default_factory=Act)
    asked: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    closing: threading.Event = field(default_factory=threading.Event)
    counted: int = 0
    """How many questions were counted, and not asked."""

    def questions(self) -> list[str]:
        """Return the user's text of each request."""
        return [question_of(body) for body in self.asked]


def question_of(body: dict[str, Any]) -> str:
    """Return the user's text of one request."""
    return "\n".join(block["text"] for block in body["messages"][0]["content"])


@contextmanager
def serving() -> Iterator[Service]:
    """Run the service on a free port of this machine."""
    service = Service()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _send(self, data: bytes, status: int = 200) -> None:
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            if self.path.endswith("/count_tokens"):
                service.counted += 1
                self._send(json.dumps({"input_tokens": len(json.dumps(body)) // 4}).encode())
                return
            act = service.script.pop(0) if service.script else service.default
            service.asked.append(body)
            service.headers.append({k.lower(): v for k, v in self.headers.items()})
            if act.silent:
                service.closing.wait(20)
                self.close_connection = True
                return
            data = act.raw if act.raw is not None else _message(act, body)
            self.send_response(act.status)
            for name, value in {"content-type": "application/json", **act.headers}.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data if act.cut_after is None else data[: act.cut_after])
            self.wfile.flush()
            if act.cut_after is not None:
                self.close_connection = True
                self.connection.shutdown(socket.SHUT_RDWR)

        def log_message(self, *args: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    service.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield service
    finally:
        service.closing.set()
        server.shutdown()
        thread.join()
        server.server_close()


def _message(act: Act, body: dict[str, Any]) -> bytes:
    if act.status != 200:
        error = {"type": "error", "error": {"type": "api_error", "message": "not today"}}
        return json.dumps(error).encode()
    message: dict[str, Any] = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": [{"type": "text", "text": act.answer(question_of(body))}],
        "stop_reason": act.stop,
        "stop_sequence": None,
    }
    used = act.used
    if used is None:
        told = {k: body[k] for k in ("system", "messages", "output_config")}
        sizes = len(json.dumps(told).encode()), len(message["content"][0]["text"].encode())
        used = {"input_tokens": sizes[0] // 4, "output_tokens": sizes[1] // 4}
    message["usage"] = used
    return json.dumps(message).encode()
