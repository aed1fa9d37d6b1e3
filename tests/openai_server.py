"""A server process that speaks the OpenAI API: it answers as `serving.good` does, with faults.

`python openai_server.py LOG FAULT...` prints its port; each request is a line of JSON in LOG.
Faults: `no-schema` and `no-json` refuse these forms of a reply, `prose` answers in prose first,
`cut` ends the first answer early, `slow` waits before the first piece, `silent` never answers,
`breaks` closes in the middle, `no-usage` tells none, `new-names` wants `max_completion_tokens`,
`words` rewords every claim, `busy` and `error` answer with 429 and 500, `fence` puts the answer in
a fence, `wrong-ids` names memories that were not shown, `reset` resets the connection, and
`hangs` never answers the second question.
"""

from __future__ import annotations

import json
import re
import struct
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socket import SO_LINGER, SOL_SOCKET
from typing import Any

from serving import good

MODEL = "llama-local:8b"
SLOW_S = 1.5


def main(log: Path, faults: frozenset[str]) -> None:
    """Serve until the process is ended."""
    asked: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            return

        def _send(self, body: object, status: int = 200) -> None:
            data = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def do_GET(self) -> None:
            models = [{"id": MODEL, "object": "model", "created": 0, "owned_by": "me"}]
            self._send({"object": "list", "data": models})

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["content-length"])))
            asked.append(request)
            with log.open("a") as lines:
                lines.write(json.dumps(request) + "\n")
            form = request.get("response_format", {}).get("type", "")
            if "busy" in faults or "error" in faults:
                self._send({"error": {"message": "not now"}}, 429 if "busy" in faults else 500)
            elif request["model"] != MODEL:
                self._send({"error": {"message": f"model '{request['model']}' not found"}}, 404)
            elif f"no-{form.removeprefix('json_').replace('object', 'json')}" in faults:
                self._send({"error": {"message": f"response_format {form} is not known"}}, 400)
            elif "new-names" in faults and "max_tokens" in request:
                self._send({"error": {"message": "max_tokens: use max_completion_tokens"}}, 400)
            else:
                self._answer(request)

        def _answer(self, request: dict[str, Any]) -> None:
            text = good(request["messages"][1]["content"])
            repaired = "not usable" in request["messages"][1]["content"]
            cut = "cut" in faults and len(asked) == 1
            if "prose" in faults and not repaired:
                text = "Certainly! I would keep all of these."
            if "fence" in faults:
                text = f"```json\n{text}\n```"
            if "hangs" in faults and len(asked) == 2:
                time.sleep(30)
            if "wrong-ids" in faults and "\nrefused: " not in request["messages"][1]["content"]:
                text = text.replace('"op": "add"', '"op": "same", "id": "m99"', 1)
            if "words" in faults:
                text = re.sub(r'("text": "[^"]*)\."', r'\1, as noted."', text)
            time.sleep(10 if "silent" in faults else SLOW_S if "slow" in faults else 0)
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.end_headers()
            pieces = [text[at : at + 40] for at in range(0, len(text) // (2 if cut else 1), 40)]
            for piece in pieces[: 2 if faults & {"breaks", "reset"} else None]:
                self._piece({"delta": {"content": piece}, "finish_reason": None})
            if "reset" in faults:
                self.connection.setsockopt(SOL_SOCKET, SO_LINGER, struct.pack("ii", 1, 0))
                self.connection.close()
                return
            if "breaks" in faults:
                self.wfile.write(b'data: {"cho')
                return
            self._piece({"delta": {}, "finish_reason": "length" if cut else "stop"})
            if "no-usage" not in faults:
                used = {"prompt_tokens": 400, "completion_tokens": 90, "total_tokens": 490}
                self._event({"choices": [], "usage": used})
            self.wfile.write(b"data: [DONE]\n\n")

        def _piece(self, choice: dict[str, Any]) -> None:
            self._event({"choices": [{"index": 0, **choice}]})

        def _event(self, body: dict[str, Any]) -> None:
            head = {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": MODEL}
            self.wfile.write(f"data: {json.dumps(head | body)}\n\n".encode())
            self.wfile.flush()

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(server.server_port, flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main(Path(sys.argv[1]), frozenset(sys.argv[2:]))
