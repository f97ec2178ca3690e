#!/usr/bin/env python3
"""Makes docs/board.svg and docs/page.webp, the pictures of `statedir board` and `statedir web` in the
README, from a real session in a real terminal and a real browser.

The terminal is drawn at a fixed time, so the same program makes the same picture to the byte. It needs
tmux, chromium and chromedriver.

    python3 examples/pictures.py [PROGRAM]
"""

import base64
import html
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.request
from datetime import datetime, timedelta, timezone
from pathlib import Path

PROGRAM = str(Path(sys.argv[1] if len(sys.argv) > 1 else "target/debug/statedir").resolve())
DOCS = Path(__file__).resolve().parent.parent / "docs"
COLUMNS, ROWS = 100, 28
WIDTH, HEIGHT = 1200, 760

STEPS = [
    ("Read the provider's API", [], "20m"),
    ("List every place that charges a card", [1], "30m"),
    ("Model of a payment, whoever the provider", [1], "45m"),
    ("Client for the new API", [3], "2h"),
    ("Retries and idempotency keys", [4], "1h"),
    ("Webhooks: signature, order, duplicates", [4], "90m"),
    ("Map error codes to messages", [4], "40m"),
    ("Switch per customer, off by default", [2, 3], "30m"),
    ("Refunds through the new provider", [5], "1h"),
    ("Move stored cards", [5], "3h"),
    ("Invoices keep their numbers", [8], "45m"),
    ("Load test at twice the peak", [5, 6], "1h"),
    ("Reconcile a day of test payments", [9, 6], "1h"),
    ("Runbook for the night of the switch", [8], "30m"),
    ("Alerts on failed charges", [6], "30m"),
    ("Ten friendly customers first", [10, 12, 13, 15], "4h"),
    ("Everybody", [14, 16], "2h"),
    ("Turn the old provider off", [17], "30m"),
    ("Remove the old client", [18], "40m"),
    ("Tell finance what changes in the reports", [], "20m"),
]

# What happened, a line each: minutes ago, who, and the command.
SESSION = """
420 ada     step skip 20 --note 'told in the weekly meeting'
400 claude  step start 1
382 claude  step done 1 --cost 0.38 --time 18m
380 codex   step start 2
354 codex   step done 2 --cost 0.52 --time 26m
350 claude  step start 3
309 claude  step done 3 --cost 0.71 --time 41m
300 claude  step start 4
265 claude  step fail 4 --error 'the sandbox answers 429 after ten calls a minute' --cost 0.90 --time 35m
260 claude  step retry 4
160 claude  step done 4 --cost 1.35 --time 100m
150 codex   step start 8
128 codex   step done 8 --cost 0.31 --time 22m
120 claude  step start 5
72  claude  step done 5 --cost 0.66 --time 48m
70  gemini  step start 11
45  gemini  step fail 11 --error 'two invoices got the same number' --cost 0.40 --time 25m
40  codex   step start 6
30  claude  step start 10
12  claude  review open 'Move the 41,200 stored cards on Thursday, 02:00 to 05:00? Refunds are slow meanwhile.'
"""


NO_BREAK = "\u00a0"
PLAIN = {"colour": None, "bold": False, "reverse": False, "underline": False}
COLOURS = ["#24292f", "#ff7b72", "#7ee787", "#e3b341", "#79c0ff", "#d2a8ff", "#76e3ea", "#c9d1d9", "#8b949e"]


def environment(moment, actor, seed, **more):
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return kept | more | {
        "STATEDIR_NOW": moment.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "STATEDIR_SEED": str(seed),
        "STATEDIR_ACTOR": actor,
        "STATEDIR_HOST": "build7",
    }


def play(root, now):
    """The session, as it would be if it ended now."""

    def run(minutes, actor, command, seed, **more):
        env = environment(now - timedelta(minutes=minutes), actor, seed)
        subprocess.run(command, check=True, cwd=root, env=env, stdout=subprocess.DEVNULL, **more)

    goal = "Move checkout to the new payment provider without a day of downtime"
    words = ["init", "--goal", goal, "--title", "Payment migration", "--set", "max_cost_per_task=25"]
    run(430, "ada", [PROGRAM, *words], 1)
    steps = [{"op": "step.add", "title": title, "depends_on": before, "time": time} for title, before, time in STEPS]
    run(425, "ada", [PROGRAM, "apply", "-"], 2, input=json.dumps(steps), text=True)
    for seed, line in enumerate(SESSION.strip().splitlines(), start=3):
        minutes, actor, command = line.split(maxsplit=2)
        run(int(minutes), actor, f"'{PROGRAM}' {command}", seed, shell=True)


def capture(root, now):
    """What the board shows in a terminal, with the codes for its colours."""
    env = environment(now, "ada", 99, LC_ALL="C.UTF-8", TERM="xterm-256color")

    def tmux(*args):
        words = ["tmux", "-u", "-L", f"pictures-{os.getpid()}", "-f", "/dev/null", *args]
        return subprocess.run(words, check=True, env=env, cwd=root, capture_output=True).stdout.decode()

    tmux("new-session", "-d", "-x", str(COLUMNS), "-y", str(ROWS), f"'{PROGRAM}' board")
    try:
        # Keys that lead to the picture, each with what is on the screen before it.
        for text, keys in (("Read the provider", "jjjjjjjjjj"), ("got the same number", "")):
            for _ in range(600):
                screen = tmux("capture-pane", "-p", "-e")
                if text in screen:
                    break
                time.sleep(0.05)
            else:
                sys.exit(f"`{text}` does not appear:\n{screen}")
            for key in keys:
                tmux("send-keys", key)
        return screen
    finally:
        tmux("kill-server")


def runs(screen):
    """The parts of each line that look alike, with how they look."""
    look = PLAIN
    for line in screen.split("\n")[:ROWS]:
        parts = []
        for part in re.split(r"(\x1b\[[0-9;]*m)", line):
            if not part.startswith("\x1b"):
                if part:
                    parts.append((part, look))
                continue
            codes = [int(number or 0) for number in part[2:-1].split(";")]
            while codes:
                code = codes.pop(0)
                if code == 0:
                    look = PLAIN
                elif code in (1, 22):
                    look = look | {"bold": code == 1}
                elif code in (4, 24):
                    look = look | {"underline": code == 4}
                elif code in (7, 27):
                    look = look | {"reverse": code == 7}
                elif code == 39:
                    look = look | {"colour": None}
                elif code == 38:
                    look = look | {"colour": COLOURS[codes[1]]}
                    codes = codes[2:]
        yield parts


def svg(screen):
    wide, high = 8.4, 18
    width, height = COLUMNS * wide + 24, ROWS * high + 24
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" role="img"'
        ' aria-label="statedir board: steps with details, live in the terminal">',
        f'<rect width="{width:.0f}" height="{height}" rx="8" fill="#0d1117"/>',
        '<g font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,monospace" font-size="14"'
        ' fill="#c9d1d9">',
    ]
    for row, parts in enumerate(runs(screen)):
        column = 0
        for text, look in parts:
            x, y = 12 + column * wide, 12 + row * high
            column += len(text)
            colour = look["colour"] or "#c9d1d9"
            if look["reverse"]:
                out.append(f'<rect x="{x:.1f}" y="{y}" width="{len(text) * wide:.1f}" height="{high}" fill="{colour}"/>')
                colour = "#0d1117"
            if not text.strip():
                continue
            more = ' font-weight="bold"' if look["bold"] else ""
            more += ' text-decoration="underline"' if look["underline"] else ""
            more += "" if colour == "#c9d1d9" else f' fill="{colour}"'
            blanks = len(text) - len(text.lstrip())
            shown = text.strip()
            out.append(
                f'<text x="{x + blanks * wide:.1f}" y="{y + 13}" textLength="{len(shown) * wide:.1f}"{more}>'
                f"{html.escape(shown).replace(' ', NO_BREAK)}</text>"
            )
    out.append("</g></svg>\n")
    return "\n".join(out)


class Browser:
    def __init__(self, profile):
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, text=True)
        self.port = next(found[1] for line in self.driver.stdout if (found := re.search(r"successfully on port (\d+)", line)))
        self.session = ""
        flags = ["headless=new", "no-sandbox", "disable-gpu", "disable-quic", "no-first-run", "disable-sync"]
        flags += ["disable-background-networking", "disable-component-update", "disable-dev-shm-usage", "hide-scrollbars", f"user-data-dir={profile}"]
        wanted = {"browserName": "chrome", "goog:chromeOptions": {"args": [f"--{flag}" for flag in flags]}}
        made = self.ask("POST", "", {"capabilities": {"alwaysMatch": wanted}})
        self.session = "/" + made["sessionId"]

    def ask(self, method, path, body):
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}/session{self.session}{path}", method=method,
            data=json.dumps(body).encode(), headers={"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=120) as answer:
            return json.load(answer)["value"]

    def develop(self, command, **parameters):
        return self.ask("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def run(self, script):
        return self.ask("POST", "/execute/sync", {"script": script, "args": []})


def picture(url, profile):
    browser = Browser(profile)
    try:
        browser.develop("Emulation.setDeviceMetricsOverride", width=WIDTH, height=HEIGHT, deviceScaleFactor=1, mobile=False)
        browser.ask("POST", "/url", {"url": url})
        for _ in range(200):
            if browser.run("return Boolean(document.querySelector('.board'))"):
                break
            time.sleep(0.1)
        else:
            sys.exit("the board does not appear")
        taken = browser.develop("Page.captureScreenshot", format="webp", quality=70)
        return base64.b64decode(taken["data"])
    finally:
        browser.ask("DELETE", "", {})
        browser.driver.terminate()


def write(name, content):
    (DOCS / name).write_bytes(content)
    print(f"wrote docs/{name} ({len(content)} bytes)")


with tempfile.TemporaryDirectory() as root:
    now = datetime(2026, 1, 15, 16, 30, tzinfo=timezone.utc)
    play(root, now)
    write("board.svg", svg(capture(root, now)).encode())

with tempfile.TemporaryDirectory() as root, tempfile.TemporaryDirectory() as profile:
    # The browser says how long ago things were, so this one ends now.
    play(root, datetime.now(timezone.utc))
    env = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    served = subprocess.Popen([PROGRAM, "web", "--actor", "ada"], cwd=root, env=env, stdout=subprocess.PIPE, text=True)
    try:
        write("page.webp", picture(served.stdout.readline().strip(), profile))
    finally:
        served.terminate()
