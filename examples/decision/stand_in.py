"""A stand-in for a model service, so that the example works without a key: ``python stand_in.py COMMAND …``.

Starts a server that speaks the protocol of decision checks, runs the command beside it, and ends with its exit code.
It is no model: it knows the one question of this example, by looking for words in the code.
"""

import json
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PORT = 8799
MODEL = "stand-in-1.0"


def probability(state):
    """How probably an ``except`` clause lets its error pass unnoticed."""
    code = state.get("unit", "") if isinstance(state, dict) else ""
    if "raise" in code or "report" in code:
        return 0.03
    return 0.5 if "log" in code else 0.95


class Handler(BaseHTTPRequestHandler):
    """``POST /api/v1/systemone``: a model, a state and questions in, a probability of yes for each question out."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        answers = {question: {"type": "noul", "noul": probability(asked["state"])} for question in asked["questions"]}
        body = json.dumps({"model": MODEL, "answers": answers}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        """The command's output is what people want to see."""


def main():
    if len(sys.argv) < 2:
        raise SystemExit("usage: python stand_in.py COMMAND …")
    with ThreadingHTTPServer(("127.0.0.1", PORT), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        done = subprocess.run(sys.argv[1:], env={**os.environ, "STAND_IN_KEY": "any"}, check=False)
        server.shutdown()
    return done.returncode


if __name__ == "__main__":
    raise SystemExit(main())
