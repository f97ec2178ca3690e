"""The clients: how each is installed, trusted, pointed at the scripted model, and run without a person."""

import json
import os
import signal
import subprocess
import threading
import time

from model import Server, call, patch

PACKAGES = {
    "claude": "@anthropic-ai/claude-code",
    "codex": "@openai/codex",
    "gemini": "@google/gemini-cli",
    "copilot": "@github/copilot",
    "opencode": "opencode-ai",
    "qwen": "@qwen-code/qwen-code",
}


def install(prefix, names):
    """Installs what is missing below `prefix`: the only use of the network."""
    for name, package in [("node", "node@24"), *((name, PACKAGES[name]) for name in names)]:
        folder = prefix / name
        if not (folder / "node_modules").is_dir():
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "package.json").write_text('{"private":true}')
            version = os.environ.get(f"{name.upper()}_VERSION")
            wanted = f"{package}@{version}" if version else package
            subprocess.run(["npm", "install", "--no-fund", "--no-audit", "--loglevel=error", wanted], cwd=folder, check=True)


class Session:
    """One run of a client."""

    def __init__(self, code, out, err, script):
        self.code, self.out, self.err, self.script = code, out, err, script


class Client:
    """A project with a home of its own; nothing of the caller's environment gets in."""

    name = ""
    # Arguments of `setup`.
    setup = ""
    # Arguments that continue its last session.
    resume = ("--continue",)
    # What an agent does until its helper has answered, where it does not wait anyway.
    wait = None
    # Whether the brief comes only where it can be remembered that it came.
    needs_memory = False
    # Whether helpers work on the list of the main agent.
    shares_tasks = False
    # How many tokens a context holds when the client compacts it, and words for that.
    full, compacts = 99_000, ()
    # Whether it compacts only before it is told something.
    compacts_between_turns = False

    def __init__(self, place):
        self.place, self.known, self.wrapped = place, {}, []
        self.home = place.base / f"home-{self.name}"
        self.home.mkdir(exist_ok=True)
        (self.home / ".profile").write_text(f'export PATH="{place.path}"\n')

    @property
    def binary(self):
        return str(self.place.prefix / self.name / "node_modules/.bin" / self.name)

    def env(self, url):
        return {"PATH": self.place.path, "HOME": str(self.home), "LANG": "C.UTF-8", "TERM": "dumb", **self.more_env(url)}

    def more_env(self, url):
        return {}

    def trust(self):
        """What a person does once."""

    def settings(self, path, wanted):
        """Settings of the user, beside what is there."""
        there = json.loads(path.read_text()) if path.exists() else {}
        path.write_text(json.dumps({**there, **wanted}))

    def words(self, prompt, url):
        raise NotImplementedError

    def run(self, script, *more, prompt="Go on with the work", kill_when=None, timeout=240):
        """Runs to the end; with `kill_when`, the whole client is killed once that holds."""
        self.trust()
        with Server(script) as url:
            words = [*self.wrapped, *self.words(prompt, url), *more]
            process = subprocess.Popen(words, cwd=self.place.project, env=self.env(url), stdin=subprocess.DEVNULL,
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
            end = time.time() + timeout
            while kill_when and process.poll() is None and not kill_when() and time.time() < end:
                time.sleep(0.05)
            if kill_when:
                os.killpg(process.pid, signal.SIGKILL)
            try:
                out, err = process.communicate(timeout=max(1, end - time.time()))
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                out, err = process.communicate()
        return Session(process.returncode, out, err, script)

    def plan(self, tasks):
        """Calls that make the client's own list this one: pairs of a text and `open`, `active` or `done`."""
        raise NotImplementedError

    def list_tasks(self):
        """Calls that look at the list, for a client that changes it task by task."""
        return []

    def shell(self, command):
        raise NotImplementedError

    def helper(self, prompt):
        """A call that has another agent do something."""
        raise NotImplementedError

    def edit(self, path, old, new):
        """Calls that replace a piece of a file."""
        raise NotImplementedError

    # How it names a tool of the server.
    server_tool = "mcp__statedir__{}"

    def mcp(self, tool, **arguments):
        return call(self.server_tool.format(tool), **arguments)


class Claude(Client):
    name = setup = "claude"
    compacts = ("--autocompact", "100000")
    shares_tasks = True

    def trust(self):
        known = {"hasCompletedOnboarding": True, "projects": {str(self.place.project): {"hasTrustDialogAccepted": True}}}
        if not (self.home / ".claude.json").exists():
            (self.home / ".claude.json").write_text(json.dumps(known))

    def more_env(self, url):
        return {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "none", "DISABLE_AUTOUPDATER": "1", "IS_SANDBOX": "1",
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "CLAUDE_CODE_ENABLE_TODO_TOOLS": "1"}

    def words(self, prompt, url):
        return [self.binary, "-p", prompt, "--output-format", "stream-json", "--verbose", "--dangerously-skip-permissions"]

    def plan(self, tasks):
        words = {"open": "pending", "active": "in_progress", "done": "completed"}
        calls = [] if self.known else [call("ToolSearch", query="select:TaskCreate,TaskUpdate")]
        for text, state in tasks:
            if text not in self.known:
                self.known[text] = (str(len(self.known) + 1), "open")
                calls.append(call("TaskCreate", subject=text, description=text))
            key, before = self.known[text]
            if before != state:
                self.known[text] = (key, state)
                calls.append(call("TaskUpdate", taskId=key, status=words[state]))
        return [[one] for one in calls]

    def list_tasks(self):
        return [[call("ToolSearch", query="select:TaskList")], [call("TaskList")]]

    def shell(self, command):
        return call("Bash", command=command, description="a command")

    def edit(self, path, old, new):
        return [[call("Read", file_path=path)], [call("Edit", file_path=path, old_string=old, new_string=new)]]

    def helper(self, prompt):
        return call("Agent", description="help", prompt=prompt, subagent_type="general-purpose", run_in_background=False)

    def run_asking(self, script, allows, prompt="Plan the work", timeout=240):
        """Runs in plan mode for a person who is asked; `allows` is what they say to a tool."""
        self.trust()
        asked = []
        with Server(script) as url:
            words = [self.binary, "-p", "--output-format", "stream-json", "--input-format", "stream-json", "--verbose",
                     "--permission-mode", "plan", "--permission-prompt-tool", "stdio"]
            process = subprocess.Popen(words, cwd=self.place.project, env=self.env(url), stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
            end = threading.Timer(timeout, lambda: os.killpg(process.pid, signal.SIGKILL))
            end.start()

            def send(message):
                process.stdin.write(json.dumps(message) + "\n")
                process.stdin.flush()

            send({"type": "user", "message": {"role": "user", "content": prompt}})
            out = []
            for line in process.stdout:
                out.append(line)
                message = json.loads(line)
                if message["type"] == "control_request":
                    request = message["request"]
                    asked.append(request.get("tool_name"))
                    answer = {"behavior": "allow", "updatedInput": request.get("input", {})} if allows else \
                        {"behavior": "deny", "message": "Not this plan."}
                    send({"type": "control_response", "response": {"subtype": "success", "request_id": message["request_id"], "response": answer}})
                elif message["type"] == "result":
                    break
            process.stdin.close()
            err = process.stderr.read()
            process.wait()
            end.cancel()
        session = Session(process.returncode, "".join(out), err, script)
        session.asked = asked
        return session


class ClaudeTodos(Claude):
    """Claude Code with its older tool."""

    setup = "claude"
    shares_tasks = False

    def more_env(self, url):
        return {**super().more_env(url), "CLAUDE_CODE_ENABLE_TASKS": "0"}

    def plan(self, tasks):
        words = {"open": "pending", "active": "in_progress", "done": "completed"}
        todos = [{"content": text, "status": words[state], "activeForm": text} for text, state in tasks]
        find = [] if self.known else [[call("ToolSearch", query="select:TodoWrite")]]
        self.known["found"] = True
        return [*find, [call("TodoWrite", todos=todos)]]


class Codex(Client):
    name = setup = "codex"
    resume = ("resume", "--last", "Go on")
    server_tool = "mcp__statedir/{}"

    def trust(self):
        pass

    def words(self, prompt, url):
        config = self.home / ".codex/config.toml"
        config.parent.mkdir(exist_ok=True)
        config.write_text(f'''model = "gpt-5.5"
model_provider = "scripted"
model_auto_compact_token_limit = 90000
[model_providers.scripted]
name = "scripted"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "SCRIPTED_KEY"
request_max_retries = 0
stream_max_retries = 0
[projects."{self.place.project}"]
trust_level = "trusted"
[analytics]
enabled = false
[tools.update_plan]
enabled = true
[features]
multi_agent_v2 = true
''')
        return [self.binary, "exec", "--json", "--dangerously-bypass-hook-trust", "--dangerously-bypass-approvals-and-sandbox", prompt]

    def more_env(self, url):
        return {"SCRIPTED_KEY": "none"}

    def plan(self, tasks):
        words = {"open": "pending", "active": "in_progress", "done": "completed"}
        return [[call("update_plan", plan=[{"step": text, "status": words[state]} for text, state in tasks])]]

    def shell(self, command):
        return call("exec_command", cmd=command)

    def edit(self, path, old, new):
        return [[patch(f"*** Begin Patch\n*** Update File: {path}\n@@\n-{old}\n+{new}\n*** End Patch")]]

    def helper(self, prompt):
        return call("collaboration/spawn_agent", message=prompt, task_name="help", fork_turns="none")

    # The helper works beside the agent that called it.
    wait = call("collaboration/wait_agent")


class Gemini(Client):
    name = setup = "gemini"
    resume = ("--resume", "latest")
    full = 900_000
    compacts_between_turns = True
    server_tool = "mcp_statedir_{}"

    def trust(self):
        folder = self.home / ".gemini"
        folder.mkdir(exist_ok=True)
        (folder / "trustedFolders.json").write_text(json.dumps({str(self.place.project): "TRUST_FOLDER"}))
        self.settings(folder / "settings.json", {
            "security": {"auth": {"selectedType": "gemini-api-key"}}, "general": {"enableAutoUpdate": False},
            "privacy": {"usageStatisticsEnabled": False}, "telemetry": {"enabled": False}})

    def more_env(self, url):
        return {"GEMINI_API_KEY": "none", "GOOGLE_GEMINI_BASE_URL": url}

    def words(self, prompt, url):
        return [self.binary, "-p", prompt, "-o", "stream-json", "-m", "gemini-2.5-pro", "--approval-mode", "yolo"]

    def plan(self, tasks):
        words = {"open": "pending", "active": "in_progress", "done": "completed"}
        return [[call("write_todos", todos=[{"description": text, "status": words[state]} for text, state in tasks])]]

    def shell(self, command):
        return call("run_shell_command", command=command)

    def edit(self, path, old, new):
        read, replace = call("read_file", file_path=path), call("replace", file_path=path, instruction="replace it", old_string=old, new_string=new)
        return [[read], [replace]]

    def helper(self, prompt):
        return call("invoke_agent", agent_name="generalist", prompt=prompt)


class Copilot(Client):
    name = "copilot"
    setup = "claude"
    full = 190_000
    server_tool = "statedir-{}"

    def trust(self):
        folder = self.home / ".copilot"
        folder.mkdir(exist_ok=True)
        if not (folder / "config.json").exists():
            (folder / "config.json").write_text(json.dumps({"trustedFolders": [str(self.place.project)], "trusted_folders": [str(self.place.project)]}))

    def more_env(self, url):
        return {"COPILOT_OFFLINE": "true", "COPILOT_PROVIDER_TYPE": "anthropic", "COPILOT_PROVIDER_BASE_URL": url,
                "COPILOT_PROVIDER_API_KEY": "none", "COPILOT_MODEL": "claude-sonnet-4.5", "COPILOT_AUTO_UPDATE": "false"}

    def words(self, prompt, url):
        return [self.binary, "-p", prompt, "--output-format", "json", "--allow-all-tools"]

    def plan(self, tasks):
        words = {"open": "pending", "active": "in_progress", "done": "done"}
        new = [(text, state) for text, state in tasks if text not in self.known]
        changed = [(text, state) for text, state in tasks if self.known.get(text, state) != state]
        self.known.update(tasks)
        key = lambda text: text.lower().replace(" ", "-")
        queries = []
        if new:
            rows = ", ".join(f"('{key(text)}', '{text}', '{words[state]}')" for text, state in new)
            queries.append(f"INSERT INTO todos (id, title, status) VALUES {rows}")
        queries += [f"UPDATE todos SET status = '{words[state]}' WHERE id = '{key(text)}'" for text, state in changed]
        return [[call("sql", description="tasks", query=query)] for query in queries]

    def list_tasks(self):
        return [[call("sql", description="tasks", query="SELECT id, title, status FROM todos")]]

    def shell(self, command):
        return call("bash", command=command, description="a command")

    def edit(self, path, old, new):
        return [[call("view", path=path)], [call("edit", path=path, old_str=old, new_str=new)]]

    def helper(self, prompt):
        return call("task", description="help", name="help", agent_type="general-purpose", prompt=prompt, mode="sync")


class Opencode(Client):
    name = setup = "opencode"
    server_tool = "statedir_{}"

    def words(self, prompt, url):
        folder = self.home / ".config/opencode"
        folder.mkdir(parents=True, exist_ok=True)
        provider = {"npm": "@ai-sdk/anthropic", "name": "scripted", "options": {"baseURL": f"{url}/v1", "apiKey": "none"},
                    "models": {"scripted": {"name": "Scripted", "limit": {"context": 100000, "output": 8000}}}}
        self.settings(folder / "opencode.json", {
            "autoupdate": False, "share": "disabled", "model": "scripted/scripted", "small_model": "scripted/scripted",
            "provider": {"scripted": provider}})
        return [self.binary, "run", "--format", "json", prompt]

    def more_env(self, url):
        return {f"OPENCODE_DISABLE_{word}": "1" for word in ("AUTOUPDATE", "MODELS_FETCH", "DEFAULT_PLUGINS", "LSP_DOWNLOAD")}

    def plan(self, tasks):
        words = {"open": "pending", "active": "in_progress", "done": "completed"}
        return [[call("todowrite", todos=[{"content": text, "status": words[state], "priority": "high"} for text, state in tasks])]]

    def shell(self, command):
        return call("bash", command=command, description="a command")

    def edit(self, path, old, new):
        return [[call("read", filePath=path)], [call("edit", filePath=path, oldString=old, newString=new)]]

    def helper(self, prompt):
        return call("task", description="help", prompt=prompt, subagent_type="general")


class Qwen(Client):
    name = setup = "qwen"
    needs_memory = True

    def trust(self):
        folder = self.home / ".qwen"
        folder.mkdir(exist_ok=True)
        self.settings(folder / "settings.json", {
            "general": {"enableAutoUpdate": False, "disableAutoUpdate": True}, "privacy": {"usageStatisticsEnabled": False},
            "telemetry": {"enabled": False}, "tools": {"todoWrite": {"enabled": True}}, "model": {"generationConfig": {"contextWindowSize": 100_000}}, "security": {"auth": {"selectedType": "anthropic"}}})

    def more_env(self, url):
        return {"ANTHROPIC_API_KEY": "none", "ANTHROPIC_BASE_URL": url, "ANTHROPIC_MODEL": "scripted"}

    def words(self, prompt, url):
        return [self.binary, "-p", prompt, "--output-format", "stream-json", "--approval-mode", "yolo", "--auth-type", "anthropic"]

    def plan(self, tasks):
        words = {"open": "pending", "active": "in_progress", "done": "completed"}
        todos = [{"id": str(at), "content": text, "status": words[state]} for at, (text, state) in enumerate(tasks)]
        return [[call("todo_write", todos=todos)]]

    def shell(self, command):
        return call("run_shell_command", command=command, is_background=False)

    def edit(self, path, old, new):
        return [[call("read_file", file_path=path)], [call("edit", file_path=path, old_string=old, new_string=new)]]

    def helper(self, prompt):
        return call("agent", description="help", prompt=prompt, subagent_type="general-purpose")


EVERY = {"claude": Claude, "claude-todos": ClaudeTodos, "codex": Codex, "gemini": Gemini, "copilot": Copilot, "opencode": Opencode, "qwen": Qwen}
