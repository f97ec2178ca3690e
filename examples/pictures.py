#!/usr/bin/env python3
"""Makes docs/board.svg, the picture of `statedir board` in the README, from a real session.

Times and ids are fixed, so the same program makes the same picture to the byte. It needs tmux.

    python3 examples/pictures.py [PROGRAM]
"""

import html
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PROGRAM = str(Path(sys.argv[1] if len(sys.argv) > 1 else "target/debug/statedir").resolve())
TARGET = Path(__file__).resolve().parent.parent / "docs" / "board.svg"
COLUMNS, ROWS = 100, 26

# What happened, a line each: the time, who, and the command.
SESSION = """
09:00 ada      init --goal 'Compare three vector databases'
09:01 ada      step add 'Collect benchmarks' --tool WebFetch --time 10m
09:01 ada      step add 'Measure recall' --depends-on 1 --time 30m
09:01 ada      step add 'Measure latency' --depends-on 1 --time 20m --description 'Use the same machine for all three, and warm the caches first.'
09:01 ada      step add 'Compare costs' --depends-on 1 --time 15m
09:01 ada      step add 'Write the summary' --depends-on 2,3,4 --time 25m
09:01 ada      step add 'Tell the team' --depends-on 5
09:02 agent-a  step start 1
09:11 agent-a  step done 1 --output best=qdrant --cost 0.25 --time 9m
09:12 agent-a  step start 2
09:12 agent-b  step start 3
09:19 agent-b  step fail 3 --error 'HTTP 503 from the index' --cost 0.10 --time 7m
09:20 agent-b  step retry 3
09:21 agent-a  review open 'The hosted index costs $40 a month: is that fine?'
"""

NO_BREAK = "\u00a0"
PLAIN = {"colour": None, "bold": False, "reverse": False, "underline": False}
COLOURS = ["#24292f", "#ff7b72", "#7ee787", "#e3b341", "#79c0ff", "#d2a8ff", "#76e3ea", "#c9d1d9", "#8b949e"]


def environment(clock, actor, seed):
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return kept | {
        "STATEDIR_NOW": f"2026-01-15T{clock}:00Z",
        "STATEDIR_SEED": str(seed),
        "STATEDIR_ACTOR": actor,
        "STATEDIR_HOST": "desk",
        "LC_ALL": "C.UTF-8",
        "TERM": "xterm-256color",
    }


def play(root):
    for seed, line in enumerate(SESSION.strip().splitlines(), start=1):
        clock, actor, command = line.split(maxsplit=2)
        subprocess.run(
            f"'{PROGRAM}' {command}", shell=True, check=True, cwd=root,
            env=environment(clock, actor, seed), stdout=subprocess.DEVNULL,
        )


def capture(root):
    env = environment("09:24", "ada", 99)

    def tmux(*args):
        words = ["tmux", "-u", "-L", f"pictures-{os.getpid()}", "-f", "/dev/null", *args]
        return subprocess.run(words, check=True, env=env, cwd=root, capture_output=True).stdout.decode()

    tmux("new-session", "-d", "-x", str(COLUMNS), "-y", str(ROWS), f"'{PROGRAM}' board")
    try:
        # Keys that lead to the picture, each with what is on the screen before it.
        for text, key in (("Collect benchmarks", "j"), ("2 Measure recall", "j"), ("Use the same machine", None)):
            for _ in range(600):
                screen = tmux("capture-pane", "-p", "-e")
                if text in screen:
                    break
                time.sleep(0.05)
            else:
                sys.exit(f"`{text}` does not appear:\n{screen}")
            if key:
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


with tempfile.TemporaryDirectory() as root:
    play(root)
    TARGET.write_text(svg(capture(root)))
print(f"wrote {TARGET.relative_to(TARGET.parent.parent)} ({TARGET.stat().st_size} bytes)")
