#!/usr/bin/env python3
"""Makes docs/page.webp, the picture of `statedir web` in the README, in a real browser.

It needs chromium and chromedriver.

    python3 examples/page_picture.py [PROGRAM]
"""

import base64
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
TARGET = Path(__file__).resolve().parent.parent / "docs" / "page.webp"
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


def environment(minutes, actor, **more):
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    moment = datetime.now(timezone.utc) - timedelta(minutes=minutes)
    now = {"STATEDIR_NOW": moment.strftime("%Y-%m-%dT%H:%M:%SZ")} if minutes else {}
    return kept | now | {"STATEDIR_ACTOR": actor, "STATEDIR_HOST": "build7"} | more


def play(root):
    def run(minutes, actor, *words, **more):
        command = [PROGRAM, *words]
        env = environment(minutes, actor)
        subprocess.run(command, check=True, cwd=root, env=env, stdout=subprocess.DEVNULL, **more)

    goal = "Move checkout to the new payment provider without a day of downtime"
    run(430, "ada", "init", "--goal", goal, "--title", "Payment migration", "--set", "max_cost_per_task=25")
    steps = [{"op": "step.add", "title": title, "depends_on": before, "time": time} for title, before, time in STEPS]
    run(425, "ada", "apply", "-", input=json.dumps(steps), text=True)
    for line in SESSION.strip().splitlines():
        minutes, actor, command = line.split(maxsplit=2)
        env = environment(int(minutes), actor)
        subprocess.run(f"'{PROGRAM}' {command}", shell=True, check=True, cwd=root, env=env, stdout=subprocess.DEVNULL)


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


with tempfile.TemporaryDirectory() as root, tempfile.TemporaryDirectory() as profile:
    play(root)
    served = subprocess.Popen([PROGRAM, "web"], cwd=root, env=environment(0, "ada"), stdout=subprocess.PIPE, text=True)
    try:
        TARGET.write_bytes(picture(served.stdout.readline().strip(), profile))
    finally:
        served.terminate()
print(f"wrote {TARGET.relative_to(TARGET.parent.parent)} ({TARGET.stat().st_size} bytes)")
