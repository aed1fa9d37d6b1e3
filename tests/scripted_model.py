"""A model service on loopback that says what a test wrote down, and keeps what it was asked."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any

Request = dict[str, Any]


class Use(dict[str, Any]):
    """A call of a tool: its input, and the end of its name, which a client begins as it likes."""

    def __init__(self, tool: str, **given: Any) -> None:
        super().__init__(given)
        self.tool = tool


class Model:
    """What the service says next, and every request of the conversation."""

    def __init__(self, says: Sequence[str | Use]) -> None:
        self.says = list(says)
        self.asked: list[Request] = []
        self.aside: list[Request] = []
        self.address = ""
        self._lock = Lock()

    def answer(self, request: Request) -> list[dict[str, Any]]:
        """Return the content of the next message; what is asked aside gets a word."""
        tools = [tool.get("name", "") for tool in request.get("tools", [])]
        with self._lock:
            if not any("memory_" in name for name in tools):
                self.aside.append(request)
                return [{"type": "text", "text": "aside"}]
            self.asked.append(request)
            said = self.says.pop(0) if self.says else "Done."
        if isinstance(said, str):
            return [{"type": "text", "text": said}]
        name = next((name for name in tools if name.endswith(said.tool)), said.tool)
        number = f"toolu_{len(self.asked):04}"
        return [{"type": "tool_use", "id": number, "name": name, "input": dict(said)}]

    def told(self) -> str:
        """Return everything that was handed over, as text."""
        return "\n".join(json.dumps(request, ensure_ascii=False) for request in self.asked)

    def results(self) -> list[tuple[bool, str]]:
        """Return the results of tools as the model was shown them: refused or not, and the text."""
        found = []
        last = self.asked[-1]["messages"] if self.asked else []
        for message in last:
            for block in message["content"] if isinstance(message["content"], list) else ():
                if block["type"] == "tool_result":
                    shown = block["content"]
                    if not isinstance(shown, str):
                        shown = "\n".join(part.get("text", "") for part in shown)
                    found.append((bool(block.get("is_error")), shown))
        return found


@contextmanager
def model(*says: str | Use) -> Iterator[Model]:
    """Serve a script of texts and tool calls in Anthropic's Messages API."""
    script = Model(says)

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            return

        def do_HEAD(self) -> None:
            self.send_response(200)
            self.end_headers()

        do_GET = do_HEAD  # noqa: N815 - the name that the library calls

        def do_POST(self) -> None:
            size = int(self.headers.get("content-length", 0))
            request = json.loads(self.rfile.read(size) or b"{}")
            if not self.path.startswith("/v1/messages"):
                self._send({}, "application/json")
            elif "count_tokens" in self.path:
                self._send({"input_tokens": 10}, "application/json")
            else:
                content = script.answer(request)
                message = _message(request, content)
                if request.get("stream"):
                    self._send(_events(message), "text/event-stream")
                else:
                    self._send(message, "application/json")

        def _send(self, body: object, kind: str) -> None:
            data = body if isinstance(body, str) else json.dumps(body)
            self.send_response(200)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(data.encode())))
            self.end_headers()
            self.wfile.write(data.encode())

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    script.address = f"http://127.0.0.1:{server.server_port}"
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield script
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _message(request: Request, content: list[dict[str, Any]]) -> dict[str, Any]:
    uses = content[0]["type"] == "tool_use"
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": request.get("model", "scripted"),
        "content": content,
        "stop_reason": "tool_use" if uses else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 10, "output_tokens": 10},
    }


def _events(message: dict[str, Any]) -> str:
    (block,) = message["content"]
    empty = {**block, "input": {}} if block["type"] == "tool_use" else {**block, "text": ""}
    delta = (
        {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        if block["type"] == "tool_use"
        else {"type": "text_delta", "text": block["text"]}
    )
    end = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    events = [
        {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}},
        {"type": "content_block_start", "index": 0, "content_block": empty},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": end, "usage": {"output_tokens": 10}},
        {"type": "message_stop"},
    ]
    return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
