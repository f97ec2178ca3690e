"""A model that follows a script, on the loopback interface.

One server speaks the three protocols that the clients use: Anthropic's messages, OpenAI's responses and
Gemini's generateContent. A script is a list of turns; a turn is a list of `say(TEXT)` and `call(TOOL,
ARGUMENTS)`. A turn may also be a function that is given the request and returns such a list: it can wait,
or look at the project first. Requests that offer no tools (titles, summaries) never use up a turn; what
is said to a helper agent is scripted by a word in its prompt.
"""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def say(text):
    return {"say": text}


def call(tool, **arguments):
    return {"call": tool, "arguments": arguments}


def patch(text):
    """Codex's free-form tool."""
    return {"call": "apply_patch", "text": text}


def tokens(count):
    """How full the context shall be, as the client is told."""
    return {"tokens": count}


class Script:
    def __init__(self, turns, helpers=None, summary=(say("A summary."),)):
        self.turns, self.helpers, self.summary = list(turns), dict(helpers or {}), summary
        self.requests, self.lock = [], threading.Lock()

    def turn(self, request, offers_tools):
        with self.lock:
            self.requests.append(request)
            if not offers_tools:
                return self.summary
            # Some clients send their location before the prompt; Codex sends its helpers a message.
            said = request.get("messages", request.get("input", request.get("contents")))
            opening = json.dumps(said[:3] + [item for item in said if item.get("type") == "agent_message" and "NEW_TASK" in str(item)])
            waiting = next((turns for word, turns in self.helpers.items() if word in opening), self.turns)
            turn = waiting.pop(0) if waiting else [say("Finished.")]
        return turn(request) if callable(turn) else turn

    def text(self, at=-1):
        """All that a request said to the model."""
        return json.dumps(self.requests[at], ensure_ascii=False).replace("\\n", "\n").replace('\\"', '"')


def anthropic(turn, number):
    blocks, size = [], 100
    for index, item in enumerate(turn):
        if "tokens" in item:
            size = item["tokens"]
        elif "say" in item:
            blocks.append({"type": "text", "text": item["say"]})
        else:
            blocks.append({"type": "tool_use", "id": f"toolu_{number:04}_{index}", "name": item["call"], "input": item["arguments"]})
    stop = "tool_use" if any(block["type"] == "tool_use" for block in blocks) else "end_turn"
    usage = {"input_tokens": size, "output_tokens": 5, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
    whole = {"id": f"msg_{number}", "type": "message", "role": "assistant", "model": "scripted", "content": blocks,
             "stop_reason": stop, "stop_sequence": None, "usage": usage}
    stream = [{"type": "message_start", "message": {**whole, "content": [], "stop_reason": None}}]
    for index, block in enumerate(blocks):
        if block["type"] == "text":
            empty, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": block["text"]}
        else:
            empty, delta = {**block, "input": {}}, {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        stream.append({"type": "content_block_start", "index": index, "content_block": empty})
        stream.append({"type": "content_block_delta", "index": index, "delta": delta})
        stream.append({"type": "content_block_stop", "index": index})
    stream.append({"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None}, "usage": {"output_tokens": 5}})
    stream.append({"type": "message_stop"})
    return whole, stream


def openai(turn, number):
    items, size = [], 100
    for index, item in enumerate(turn):
        name = f"call_{number:04}_{index}"
        if "tokens" in item:
            size = item["tokens"]
        elif "say" in item:
            items.append({"type": "message", "role": "assistant", "id": f"m_{name}", "content": [{"type": "output_text", "text": item["say"]}]})
        elif "text" in item:
            items.append({"type": "custom_tool_call", "id": f"t_{name}", "call_id": name, "name": item["call"], "input": item["text"], "status": "completed"})
        else:
            # Codex puts some of its tools below a common name.
            *above, tool = item["call"].split("/")
            items.append({"type": "function_call", "id": f"f_{name}", "call_id": name, "name": tool, "arguments": json.dumps(item["arguments"]), "status": "completed",
                          **({"namespace": above[0]} if above else {})})
    usage = {"input_tokens": size, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 5,
             "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": size + 5}
    whole = {"id": f"resp_{number}", "object": "response", "status": "completed", "output": items, "usage": usage}
    stream = [{"type": "response.created", "response": {**whole, "status": "in_progress", "output": []}}]
    for index, item in enumerate(items):
        stream.append({"type": "response.output_item.added", "output_index": index, "item": item})
        stream.append({"type": "response.output_item.done", "output_index": index, "item": item})
    stream.append({"type": "response.completed", "response": whole})
    return whole, stream


def gemini(turn, number):
    parts, size = [], 100
    for item in turn:
        if "tokens" in item:
            size = item["tokens"]
        elif "say" in item:
            parts.append({"text": item["say"]})
        elif "call" in item:
            parts.append({"functionCall": {"name": item["call"], "args": item["arguments"]}})
    whole = {"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}],
             "usageMetadata": {"promptTokenCount": size, "candidatesTokenCount": 5, "totalTokenCount": size + 5},
             "modelVersion": "scripted", "responseId": f"r{number}"}
    return whole, [whole]


class Server:
    """`with Server(script) as url:` listens on a free port of 127.0.0.1."""

    def __init__(self, script):
        self.script = script

    def __enter__(self):
        script = self.script

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def send(self, status, value):
                data = json.dumps(value).encode()
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def do_GET(self):
                self.send(200 if "/models" in self.path else 404, {"object": "list", "data": [], "models": []})

            def do_HEAD(self):
                self.send_response(200)
                self.send_header("content-length", "0")
                self.end_headers()

            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("content-length") or 0))
                path = self.path.split("?")[0]
                if path.endswith(("count_tokens", "countTokens")):
                    return self.send(200, {"input_tokens": 100, "totalTokens": 100})
                kinds = {"/messages": anthropic, "/responses": openai, ":generateContent": gemini, ":streamGenerateContent": gemini}
                kind = next((kind for end, kind in kinds.items() if path.endswith(end)), None)
                if kind is None:
                    return self.send(404, {"error": {"message": path, "code": 404}})
                request = json.loads(body)
                turn = script.turn(request, bool(request.get("tools")))
                whole, stream = kind(turn, len(script.requests))
                if kind is gemini and path.endswith(":generateContent") or kind is anthropic and not request.get("stream"):
                    return self.send(200, whole)
                self.send_response(200)
                self.send_header("content-type", "text/event-stream")
                self.send_header("connection", "close")
                self.end_headers()
                try:
                    for event in stream:
                        name = f"event: {event['type']}\n" if "type" in event else ""
                        self.wfile.write(f"{name}data: {json.dumps(event)}\n\n".encode())
                except OSError:
                    pass
                self.close_connection = True

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{self.server.server_port}"

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
