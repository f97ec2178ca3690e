"""What is tried. Each scenario is a function of a project, a client and a check."""

import os
import re
import threading

from clients import EVERY as KINDS
from model import Script, call, say, tokens

EVERY = {}
ALL = ("claude", "claude-todos", "codex", "gemini", "copilot", "opencode", "qwen")


def scenario(*labels):
    def add(function):
        function.clients = labels
        EVERY[function.__name__] = function
        return function

    return add


def begin(place, kind, *options):
    """A state with a goal and no steps, and a client that is set up."""
    place.run("init", "--goal", "Compare three vector databases")
    client = kind(place)
    place.run("setup", client.setup, *options)
    return client


FIRST = [("Collect benchmarks", "active"), ("Write the report", "open"), ("Send it", "open")]
THEN = [("Collect benchmarks", "done"), ("Write the report", "active"), ("Send it", "open")]
LAST = [("Collect benchmarks", "done"), ("Write the report", "done"), ("Send it", "done")]


def agrees(place, tasks):
    """Whether the plan tells the same as a client's list."""
    words = {"open": "PENDING", "active": "RUNNING", "done": "COMPLETED"}
    return place.steps() == [(text, words[state]) for text, state in tasks]


def told_once(place, tasks):
    """Whether the history tells the end of every step once."""
    headings = [line for line in place.history().splitlines() if line.startswith("### ")]
    return all(sum(text in heading for heading in headings) == 1 for text, _ in tasks)


@scenario(*ALL)
def capture(place, kind, check):
    """The client's own list becomes steps, and follows it."""
    client = begin(place, kind)
    seen = []
    look = lambda turn: lambda request: (seen.append(place.steps()), turn)[1]
    script = Script([*client.plan(FIRST), look([client.shell("true")]), [say("Done.")]])
    session = client.run(script)
    check("the client ends well", session.code == 0, session.err)
    check("the model gets the brief", "# Brief at" in script.text(0), script.text(0)[-1500:])
    words = {"open": "PENDING", "active": "RUNNING", "done": "COMPLETED"}
    check("the first list is the plan", seen and seen[-1] == [(text, words[state]) for text, state in FIRST], seen)
    check("list and plan do not differ", place.run("check").strip() == "everything is consistent", place.run("check"))
    check("nothing failed in a hook", not (place.state / ".statedir/hook.log").exists())


@scenario(*ALL)
def whole(place, kind, check):
    """From the first task to the last, plan and list agree; nobody typed anything."""
    client = begin(place, kind)
    turns = [*client.plan(FIRST), *client.plan(THEN), *client.plan(LAST), [say("All is done.")]]
    session = client.run(Script(turns))
    check("the client ends well", session.code == 0, session.err)
    check("the plan agrees with the list", agrees(place, LAST), place.steps())
    check("the plan is finished", "COMPLETED_SUCCESS" in place.run("status"), place.run("status"))
    check("the history has every step once", told_once(place, LAST), place.history())
    check("the state is sound", place.run("check").strip() == "everything is consistent", place.run("check"))
    kinds = [op["kind"] for op in place.json("op", "log", "--limit", "100")["operations"]]
    check("one operation for each event", kinds.count("capture") <= len(turns), kinds)


@scenario("claude", "codex", "gemini", "copilot", "opencode", "qwen")
def first_list(place, kind, check):
    """Where that was asked for, the first list makes the state; else there is none."""
    client = kind(place)
    place.run("setup", client.setup)
    session = client.run(Script([*client.plan(FIRST)]))
    check("without being asked for nothing is made", session.code == 0 and not place.state.exists(), session.err)
    other = kind(place)
    place.run("setup", other.setup, "--capture")
    session = other.run(Script([*other.plan(FIRST)]))
    check("the first list makes a state", agrees(place, FIRST), (place.steps(), session.err))
    place.run("setup", other.setup)
    third = kind(place)
    third.run(Script([*third.plan(FIRST)]))
    place.run("setup", other.setup, "--remove")
    # opencode installs what plugins need beside them; Qwen Code writes the version of its settings into
    # them, and keeps what they were.
    left = {str(path.relative_to(place.project)) for path in place.project.rglob("*") if "node_modules" not in path.parts}
    left = {path for path in left if path.split("/")[0] not in (".git", "workspace", ".gitattributes")}
    of_opencode = {".opencode", ".opencode/.gitignore", ".opencode/package.json", ".opencode/package-lock.json"}
    of_qwen = {".qwen", ".qwen/settings.json", ".qwen/settings.json.orig"}
    check("removing leaves nothing of setup", left <= of_opencode | of_qwen, left)
    if (place.project / ".qwen/settings.json").exists():
        check("what the client wrote is not ours", "statedir" not in (place.project / ".qwen/settings.json").read_text())


@scenario(*ALL)
def crash(place, kind, check):
    """The client is killed in the middle; the next session goes on from the brief."""
    client = begin(place, kind)
    client.run(Script([*client.plan(FIRST), [client.shell("sleep 60")]]), kill_when=lambda: agrees(place, FIRST))
    check("what was planned is there", agrees(place, FIRST), place.steps())
    again = kind(place)
    script = Script([[say("I see.")]])
    again.run(script)
    told = script.text(0)
    check("the next session is told what is open", "Write the report" in told and "Collect benchmarks" in told, told[-2500:])
    last = kind(place)
    session = last.run(Script([*last.plan(THEN), *last.plan(LAST)]))
    check("and finishes without doubling a step", agrees(place, LAST), (place.steps(), session.err))


BACK = "Your own task list as you left it"


@scenario(*ALL)
def resumed(place, kind, check):
    """The client's own session goes on later: its list is given back beside the plan, and followed."""
    client = begin(place, kind)
    client.run(Script([*client.plan(FIRST), [say("Half done.")]]))
    place.run("step", "add", "Ask for a review")
    before = place.steps()
    script = Script([[say("On.")]])
    session = client.run(script, *client.resume)
    told = script.text(0) if script.requests else ""
    check("the list comes back with the brief", BACK in told and "Write the report (step 2" in told, (session.err, told[-2500:]))
    check("and what it lacks", "Open steps that it lacks: 4" in told, told[-2500:])
    check("nothing has changed by that", place.steps() == before, (before, place.steps()))


@scenario(*ALL)
def compaction(place, kind, check):
    """After a compaction the list is given back."""
    client = begin(place, kind)
    summary = [tokens(client.full), say("<summary>Before.</summary><state_snapshot>Before.</state_snapshot>")]
    more = [[client.shell("true")], [client.shell("true")]]

    def go_on(request):
        # Some clients offer tools when they ask for a summary.
        last = str(request.get("messages", request.get("input", request.get("contents")))[-2:])
        asked = re.search("state_snapshot|detailed summary|handoff summary|anchored summary", last)
        return summary if asked else more.pop() if more else [say("Done.")]

    last = say("Half done.") if kind.compacts_between_turns else client.shell("statedir status")
    turns = [*client.plan(FIRST), [tokens(client.full), last], *[go_on] * 6]
    script = Script(turns, summary=summary)
    session = client.run(script, *client.compacts)
    texts = [script.text(at) for at in range(len(script.requests))]
    back = [text for text in texts if BACK in text]
    check("the list comes back with the brief", bool(back), (session.err, [text[-700:] for text in texts]))
    check("with the step of each task", back and "] Collect benchmarks (step 1, RUNNING)" in back[-1], back and back[-1][-2500:])
    check("nothing was dropped", agrees(place, FIRST), place.steps())


@scenario(*ALL)
def two_sessions(place, kind, check):
    """Two sessions at once: neither touches what the other holds."""
    one = begin(place, kind)
    other = kind(place)
    other.home = place.base / "home-other"
    other.home.mkdir()
    (other.home / ".profile").write_text((one.home / ".profile").read_text())
    ready, done = threading.Event(), threading.Event()

    def wait(event, turn):
        return lambda request: (event.wait(60), turn)[1]

    def signal(event, turn):
        return lambda request: (event.set(), turn)[1]

    mine, theirs = [("Collect benchmarks", "active")], [("Collect benchmarks", "done"), ("Measure the network", "active")]
    first = Script([*one.plan(mine), signal(ready, [one.shell("true")]), wait(done, [say("Done.")])])
    second_turns = other.plan(theirs)
    second = Script([wait(ready, second_turns[0]), *second_turns[1:], signal(done, [say("Done.")])])
    sessions = []
    threads = [threading.Thread(target=lambda client=client, script=script: sessions.append(client.run(script))) for client, script in ((one, first), (other, second))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    steps = dict(place.steps())
    check("the step of the first stays its own", steps.get("Collect benchmarks") == "RUNNING", (steps, [session.err for session in sessions]))
    check("the second has a step of its own", steps.get("Measure the network") == "RUNNING", steps)
    check("no step is there twice", len(place.steps()) == 2, place.steps())


@scenario(*ALL)
def subagent(place, kind, check):
    """A helper's plans are not the plan's, and the main agent's step stays its own."""
    client = begin(place, kind)
    other = [("Helper work", "active")]
    looked = []
    plan, helping = client.plan(FIRST), kind(place)
    helping.known = dict(client.known)
    helper = [*helping.plan(other), lambda request: (looked.append(str(request)), [say("42")])[1]]
    wait = [[client.wait]] if client.wait else []
    script = Script([*plan, [client.helper("HELPER: look it up")], *wait, [say("Done.")]], helpers={"HELPER": helper})
    session = client.run(script)
    check("the client ends well", session.code == 0, session.err)
    check("the helper has worked", bool(looked), [script.text(at)[-900:] for at in range(len(script.requests))][-2:])
    wanted = [*FIRST, *other] if kind.shares_tasks else FIRST
    check("the plan is the main agent's, or the list that both share", agrees(place, wanted), place.steps())


@scenario(*ALL)
def read_only(place, kind, check):
    """A state that nobody may write stops nobody, and the agent still gets the brief."""
    client = begin(place, kind)
    place.run("step", "add", "Ask for a review")
    before = {path: path.read_bytes() for path in place.state.rglob("*") if path.is_file()}
    if os.getuid() == 0:
        # Root writes anywhere, but for what is mounted otherwise.
        mounts = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"'
        client.wrapped = ["unshare", "--mount", "sh", "-c", mounts, str(place.state)]
    else:
        for path in (place.state, place.state / ".statedir"):
            path.chmod(0o555)
    script = Script([*client.plan(FIRST), [say("Done.")]])
    session = client.run(script)
    told = script.text(0) if script.requests else ""
    check("the client ends well", session.code == 0, session.err)
    check("the model is told what is to be done", "Ask for a review" in told or kind.needs_memory, told[-1500:])
    after = {path: path.read_bytes() for path in place.state.rglob("*") if path.is_file()}
    check("nothing has changed", before == after, [str(path) for path in before.keys() ^ after.keys()])


@scenario("claude", "codex", "gemini", "copilot", "opencode", "qwen")
def unreadable(place, kind, check):
    """A plan that nobody can read stops nobody; what was planned meanwhile is in the one that is mended."""
    client = begin(place, kind)
    plan = place.state / "plan.md"
    whole, seen = plan.read_bytes(), []
    plan.write_bytes(b"\xff\xfe")

    def mend(request):
        seen.append(plan.read_bytes())
        plan.write_bytes(whole)
        return then[0]

    first, then = client.plan(FIRST), client.plan(THEN)
    script = Script([*first, mend, *then[1:], *client.list_tasks(), [say("Done.")]])
    session = client.run(script)
    check("the client ends well", session.code == 0, session.err)
    check("the plan keeps its bytes", seen == [b"\xff\xfe"], seen)
    check("the plan that is mended has the list", agrees(place, THEN), (place.steps(), script.text()[-2000:]))


@scenario("claude", "codex", "gemini", "copilot", "opencode", "qwen")
def guard(place, kind, check):
    """The history is not written by hand, by whatever tool; other files are."""
    client = begin(place, kind)
    place.run("step", "add", "One")
    before = place.history()
    other = place.project / "notes.md"
    other.write_text("# Notes\n\nOld.\n")
    edits = [*client.edit(str(other), "Old.", "New."), *client.edit(str(place.state / "history.md"), before.splitlines()[0], "# Gone")]
    client.run(Script([[client.shell("echo x >> workspace/state/history.md")], *edits, [say("Done.")]]))
    check("the history keeps its bytes", place.history().startswith(before) and "\nx\n" not in place.history(), place.history())
    check("another file is edited", "New." in other.read_text(), other.read_text())


@scenario("claude", "codex", "gemini", "copilot", "opencode", "qwen")
def review(place, kind, check):
    """A question to a person is decided by no agent, in a shell or over MCP."""
    client = begin(place, kind)
    place.run("review", "open", "May the table be dropped?")
    shell, server = client.shell("statedir review approve r1"), client.mcp("review", verb="approve", id="r1")
    script = Script([[shell], [server], [client.mcp("status")], [say("Done.")]])
    session = client.run(script)
    check("the client ends well", session.code == 0, session.err)
    check("the server was asked", "May the table be dropped?" in script.text(), script.text()[-3000:])
    waiting = [each["id"] for each in place.json("review", "list")["reviews"]]
    check("the question still waits", waiting == ["r1"], (waiting, script.text()[-3000:]))


# Codex calls the hooks of the user and those of the project: `setup` says so.
@scenario("claude", "gemini", "copilot", "opencode", "qwen")
def twice(place, kind, check):
    """Set up for the user and for the project, every event is answered once."""
    client = begin(place, kind)
    place.run("constraint", "set", "max_file_operations", "100")
    place.run("setup", client.setup, "--user", home=client.home)
    other = place.project / "notes.md"
    other.write_text("# Notes\n\nOld.\n")
    script = Script([*client.edit(str(other), "Old.", "New."), [say("Done.")]])
    session = client.run(script)
    check("the client ends well", session.code == 0, session.err)
    briefs = script.text(0).count("# Brief at")
    check("the model gets one brief", briefs == 1, (briefs, script.text(0)[-3000:]))
    used = {limit["fact"]: limit["used"] for limit in place.json("status")["limits"]}
    check("the edit is counted once", used.get("file_operations") in (1, "1"), used)


@scenario("claude", "codex", "gemini", "opencode", "qwen")
def checked(place, kind, check):
    """`setup --check` tells what is in place, and proves it."""
    client = begin(place, kind)
    told = place.json("setup", client.setup, "--check")["clients"][0]
    check("everything is in place", told["in_place"] and all(proof["answered"] for proof in told["proofs"]), told)
    place.run("setup", client.setup, "--remove")
    place.run("setup", client.setup, "--check", code=1)


@scenario("claude")
def accepted_plan(place, kind, check):
    """A plan that a person accepts becomes steps; one that they reject does not."""
    client = begin(place, kind)
    plan = "# Speed up\n\nWhy.\n\n" + "".join(f"{at}. {text}\n" for at, (text, _) in enumerate(FIRST, 1))

    def write(request):
        # The client names the file that the plan goes into.
        path = re.search(r"(/[^\"\\\\ ]*/plans/[^\"\\\\ ]*\.md)", str(request))
        return [call("Write", file_path=path.group(1), content=plan)]

    find, leave = [call("ToolSearch", query="select:ExitPlanMode")], [call("ExitPlanMode")]
    session = client.run_asking(Script([find, write, leave, [say("I see.")]]), allows=False)
    check("the person was asked", "ExitPlanMode" in session.asked, (session.asked, session.err))
    check("a rejected plan changes nothing", place.steps() == [], place.steps())
    again = kind(place)
    session = again.run_asking(Script([find, write, leave, *again.plan(FIRST), [say("Begun.")]]), allows=True)
    check("the client ends well", session.code == 0, session.err)
    check("an accepted plan becomes steps, and its tasks are the same steps", agrees(place, FIRST), place.steps())


@scenario("claude", "codex", "gemini", "copilot", "opencode", "qwen")
def prompts(place, kind, check):
    """What the user says is recorded where that was asked for, and only there."""
    client = begin(place, kind)
    client.run(Script([[say("Hello.")]]), prompt="Remember the milk")
    check("not unless asked for", "Remember the milk" not in place.history())
    place.run("setup", client.setup, "--record-prompts")
    client.run(Script([[say("Hello.")]]), prompt="Remember the milk")
    check("where it was asked for", "Remember the milk" in place.history(), place.history())


# Each hands over to the next.
RELAY = {"claude": "codex", "codex": "gemini", "gemini": "opencode", "opencode": "qwen", "qwen": "copilot", "copilot": "claude"}


@scenario(*RELAY)
def story(place, kind, check):
    """One client plans, works and is killed; another goes on from the brief and finishes."""
    client, other = kind(place), KINDS[RELAY[kind.name]](place)
    for name in {client.setup, other.setup}:
        place.run("setup", name, "--capture")
    work = [client.shell("echo 42 > benchmarks.txt")]
    turns = [*client.plan(FIRST), work, *client.plan(THEN), [client.shell("sleep 60")]]
    client.run(Script(turns), kill_when=lambda: agrees(place, THEN))
    check("at the kill, plan and list agree", agrees(place, THEN), place.steps())
    seen = {}

    def go_on(request):
        seen["brief"], seen["before"] = str(request), place.steps()
        return again[0]

    def look(request):
        seen["after"] = place.steps()
        return last[0]

    again, last = other.plan(THEN), other.plan(LAST)
    session = other.run(Script([go_on, *again[1:], look, *last[1:], [say("The report is sent.")]]))
    told = seen.get("brief", "")
    check("the brief tells what is done and what is not", "Write the report" in told and "1 of 3" in told, told[-3000:])
    check("nothing was lost between the two", "after" in seen and seen.get("before") == seen.get("after"), seen)
    check("the second session finishes", agrees(place, LAST), (place.steps(), session.err))
    check("the plan is finished", "COMPLETED_SUCCESS" in place.run("status"), place.run("status"))
    check("the history has every step", all(text in place.history() for text, _ in LAST), place.history())
    check("the history is whole", place.json("history", "verify")["ok"])
    check("the state is sound", place.run("check").strip() == "everything is consistent", place.run("check"))
    people = [op["actor"] for op in place.json("op", "log", "--limit", "100")["operations"] if op["actor"] == "ada"]
    check("nothing was typed by a person", not people, people)
