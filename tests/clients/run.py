#!/usr/bin/env python3
"""statedir with real clients that follow scripted models; nobody is asked anything.

    cargo xtask clients [--client NAME]… [--keep DIR] [SCENARIO…]

installs the clients from npm below `target/clients` (once; the only use of the network) and runs each
scenario for every client that can do it. Projects and homes are new, nothing of the caller's environment
reaches a client, and only 127.0.0.1 is contacted. Exit code 0: everything holds.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import clients  # noqa: E402
import scenarios  # noqa: E402


class Place:
    """A project in a repository, and statedir on the PATH."""

    def __init__(self, root, name, prefix, statedir):
        self.base, self.prefix = root / name, prefix
        self.project, programs = self.base / "project", self.base / "bin"
        for folder in (self.project, programs):
            folder.mkdir(parents=True)
        try:
            # A program that is not stripped is large, and there are dozens of places.
            os.link(statedir, programs / "statedir")
        except OSError:
            shutil.copy(statedir, programs / "statedir")
        self.statedir = str(programs / "statedir")
        self.path = f"{programs}:{prefix}/node/node_modules/.bin:/usr/local/bin:/usr/bin:/bin"
        subprocess.run(["git", "init", "-q", "."], cwd=self.project, check=True)

    @property
    def state(self):
        return self.project / "workspace/state"

    def run(self, *words, code=0, actor="ada", home=None):
        """statedir as a person uses it."""
        env = {"PATH": self.path, "HOME": str(home or self.base), "LANG": "C.UTF-8", "USER": actor}
        done = subprocess.run([self.statedir, *words], cwd=self.project, env=env, capture_output=True, text=True)
        assert code is None or done.returncode == code, f"statedir {' '.join(words)}: {done.stdout}{done.stderr}"
        return done.stdout

    def json(self, *words):
        return json.loads(self.run(*words, "--json"))

    def steps(self):
        """The plan as pairs of title and status."""
        if not (self.state / "plan.md").exists():
            return []
        return [(step["title"], step["status"]) for step in self.json("step", "list", "--limit", "1000")["steps"]]

    def history(self):
        return (self.state / "history.md").read_text()


class Report:
    def __init__(self):
        self.held, self.failed = 0, []

    def check(self, name, holds, detail=""):
        if holds:
            self.held += 1
        else:
            self.failed.append(name)
        print(f"  {'holds' if holds else 'FAILS'}  {name}" + ("" if holds else f"\n         {str(detail)[:2000]}"), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--statedir", type=Path, required=True)
    parser.add_argument("--prefix", type=Path, required=True)
    parser.add_argument("--client", action="append", choices=clients.EVERY)
    parser.add_argument("--keep", type=Path, help="keep the projects and homes here")
    parser.add_argument("scenario", nargs="*")
    args = parser.parse_args()
    wanted = args.client or list(clients.EVERY)
    prefix = args.prefix.absolute()
    kinds = [clients.EVERY[name] for name in wanted]
    names = {kind.name for kind in kinds}
    clients.install(prefix, names | {scenarios.RELAY[name] for name in names})
    root = Path(tempfile.mkdtemp(prefix="statedir-clients-")) if args.keep is None else args.keep.absolute()
    report = Report()
    for name, scenario in scenarios.EVERY.items():
        if args.scenario and name not in args.scenario:
            continue
        for label in wanted:
            if label not in scenario.clients:
                continue
            print(f"{name}, {label}: {scenario.__doc__.strip()}", flush=True)
            try:
                place = Place(root, f"{name}-{label}", prefix, args.statedir)
                scenario(place, clients.EVERY[label], report.check)
            except Exception:
                report.check(f"{name} runs to its end", False, traceback.format_exc())
    if args.keep is None:
        shutil.rmtree(root, ignore_errors=True)
    print(f"{report.held} hold, {len(report.failed)} fail")
    sys.exit(1 if report.failed else 0)


if __name__ == "__main__":
    main()
