#!/usr/bin/env python3
"""An agent loop over the command line: claim a step, do it, tell what came of it.

    cargo build && STATEDIR_BIN=target/debug/statedir examples/agent_loop.py [DIRECTORY]
"""
import json
import os
import subprocess
import sys

BIN = os.path.abspath(os.environ["STATEDIR_BIN"]) if "STATEDIR_BIN" in os.environ else "statedir"


def statedir(*args):
    """Runs one command and gives its answer; a refusal is an answer, too."""
    done = subprocess.run([BIN, *args, "--json"], capture_output=True, text=True)
    return done.returncode, json.loads(done.stdout)


def work(step):
    """What a model would do. The second step fails the first time."""
    if step["number"] == 2 and step.get("attempt", 1) == 1:
        raise RuntimeError("the page timed out")
    return {"words": len(step["title"].split())}


def main(directory):
    os.chdir(directory)
    os.environ.pop("STATEDIR", None)
    os.environ["STATEDIR_ACTOR"] = f"agent-{os.getpid()}"
    statedir("init", "--goal", "Write three summaries")
    for part in ("first", "second", "third"):
        statedir("step", "add", f"Summarise the {part} paper")
    while True:
        code, answer = statedir("step", "next", "--claim")
        if code == 3:  # somebody was faster, or holds the lock: try again
            continue
        if code != 0:
            _, status = statedir("status")
            if not status["failed_steps"]:
                break
            code, answer = statedir("step", "retry", str(status["failed_steps"][0]["number"]))
            if code != 0:
                print(answer["error"]["message"], "-", answer["error"]["hint"])
                break
        step = {**answer["step"], "attempt": answer.get("attempt", 1)}
        number = str(step["number"])
        try:
            output = [f"--output={key}={value}" for key, value in work(step).items()]
            statedir("step", "done", number, *output, "--cost", "0.01")
            statedir("context", "add", f"step {number} went well")
        except RuntimeError as error:
            statedir("step", "fail", number, "--error", str(error))
    code, status = statedir("status")
    print(f"{status['status']}: {status['completed']} of {status['total_steps']} steps")
    return statedir("check")[0]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else "."))
