// Passes the events of opencode on to statedir: the brief for a session, what the user says, the guard
// before a tool, the count and the task list after it. Without statedir it does nothing.
import { spawnSync } from "node:child_process"

const program = "@PROGRAM@"
const options = [@OPTIONS@]
const names = { bash: "Bash", edit: "Edit", write: "Write", patch: "apply_patch", webfetch: "WebFetch", task: "Task" }

const ask = (event) => {
  const done = spawnSync(program, ["hook", ...options], { input: JSON.stringify(event), encoding: "utf8", timeout: 10000 })
  try {
    return JSON.parse(done.stdout)
  } catch {
    return undefined
  }
}

// Set up for the user and for the project, one of the two answers.
const loaded = (globalThis[Symbol.for("statedir")] ??= new Map())
const own = import.meta.url.split("?")[0]

export const Statedir = async ({ client, directory }) => {
  if (!loaded.has(directory)) loaded.set(directory, own)
  if (loaded.get(directory) !== own) return {}
  const briefs = new Map()
  // The sessions of helpers, with the session that called each.
  const callers = new Map()
  const event = (name, session, more) => {
    const caller = callers.get(session)
    const whose = caller ? { session_id: caller, agent_id: session, agent_type: "helper" } : { session_id: session }
    return { hook_event_name: name, ...whose, cwd: directory, ...more }
  }
  // Tools of MCP servers are called `server_tool`.
  let servers
  const named = async (tool) => {
    servers ??= await client.mcp.status().then(({ data }) => Object.keys(data ?? {}), () => [])
    const server = ["statedir", ...servers].find((name) => tool.startsWith(name.replace(/[^a-zA-Z0-9_-]/g, "_") + "_"))
    return server ? `mcp__${server}__${tool.slice(server.length + 1)}` : (names[tool] ?? tool)
  }
  const tool = async (name, input, args, more) =>
    ask(event(name, input.sessionID, {
      tool_name: await named(input.tool),
      tool_input: { ...args, file_path: args?.filePath ?? args?.file_path },
      ...more,
    }))
  const context = (answer) => answer?.hookSpecificOutput?.additionalContext
  const brief = (session) => {
    if (!briefs.has(session)) {
      const name = callers.has(session) ? "SubagentStart" : "SessionStart"
      briefs.set(session, context(ask(event(name, session, { source: "startup" }))))
    }
    return briefs.get(session)
  }
  return {
    "experimental.chat.system.transform": async (input, output) => {
      if (input.sessionID && brief(input.sessionID)) output.system.push(brief(input.sessionID))
    },
    "chat.message": async (input, output) => {
      const session = input.sessionID
      const said = output.parts.filter((part) => part.type === "text" && !part.synthetic).map((part) => part.text)
      if (!session || callers.has(session) || !said.length) return
      const known = brief(session)
      const news = context(ask(event("UserPromptSubmit", session, { prompt: said.join("\n") })))
      if (news) briefs.set(session, [known, news].filter(Boolean).join("\n\n"))
    },
    "shell.env": async (input, output) => {
      if (input.sessionID) output.env.STATEDIR_SESSION = callers.get(input.sessionID) ?? input.sessionID
    },
    "tool.execute.before": async (input, output) => {
      const answer = (await tool("PreToolUse", input, output.args))?.hookSpecificOutput
      if (answer?.permissionDecision) throw new Error(answer.permissionDecisionReason)
    },
    "tool.execute.after": async (input, output) => {
      const answer = await tool("PostToolUse", input, input.args, { tool_response: {} })
      const text = [answer?.reason, context(answer)].filter(Boolean).join("\n")
      if (text && typeof output.output === "string") output.output += "\n\n" + text
    },
    "experimental.session.compacting": async (input) => {
      if (!callers.has(input.sessionID)) ask(event("PreCompact", input.sessionID))
    },
    event: async ({ event: happened }) => {
      const { info, sessionID } = happened?.properties ?? {}
      if (happened?.type?.startsWith("session.") && info?.parentID) callers.set(info.id, info.parentID)
      if (happened?.type === "session.compacted") briefs.delete(sessionID)
    },
  }
}
