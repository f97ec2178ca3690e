// Passes the events of opencode on to statedir: the brief for a session, the guard before a tool,
// the count and the task list after it. Without statedir it does nothing.
import { spawnSync } from "node:child_process"

const program = "@PROGRAM@"
const names = { bash: "Bash", edit: "Edit", write: "Write", patch: "apply_patch", webfetch: "WebFetch", task: "Task" }

const ask = (event) => {
  const done = spawnSync(program, ["hook", ...[@OPTIONS@]], { input: JSON.stringify(event), encoding: "utf8", timeout: 10000 })
  try {
    return JSON.parse(done.stdout)
  } catch {
    return undefined
  }
}

export const Statedir = async ({ directory }) => {
  const briefs = new Map()
  const event = (name, session, more) => ({ hook_event_name: name, session_id: session, cwd: directory, ...more })
  const tool = (name, input, args, more) =>
    ask(event(name, input.sessionID, {
      tool_name: names[input.tool] ?? input.tool,
      tool_input: { ...args, file_path: args?.filePath ?? args?.file_path },
      ...more,
    }))
  return {
    "experimental.chat.system.transform": async (input, output) => {
      const session = input.sessionID
      if (!session) return
      if (!briefs.has(session)) {
        const answer = ask(event("SessionStart", session, { source: "startup" }))
        briefs.set(session, answer?.hookSpecificOutput?.additionalContext)
      }
      if (briefs.get(session)) output.system.push(briefs.get(session))
    },
    "shell.env": async (input, output) => {
      if (input.sessionID) output.env.STATEDIR_SESSION = input.sessionID
    },
    "tool.execute.before": async (input, output) => {
      const answer = tool("PreToolUse", input, output.args)?.hookSpecificOutput
      if (answer?.permissionDecision) throw new Error(answer.permissionDecisionReason)
    },
    "tool.execute.after": async (input, output) => {
      const answer = tool("PostToolUse", input, input.args, { tool_response: {} })
      const text = [answer?.reason, answer?.hookSpecificOutput?.additionalContext].filter(Boolean).join("\n")
      if (text && typeof output.output === "string") output.output += "\n\n" + text
    },
    event: async ({ event: happened }) => {
      const session = happened?.properties?.sessionID
      if (happened?.type === "session.compacted") briefs.delete(session)
    },
  }
}
