"""An agent's loop over MCP: read the brief, claim a step, work, say what came of it.

    pip install "mcp>=2,<3"
    python examples/agent_mcp.py DIRECTORY [STATEDIR-PROGRAM]

The directory needs a state with steps (`statedir init`, `statedir step add`). Several of these can
run at once: a claim gives each step to one agent only.
"""

import asyncio
import sys

from mcp import Client, StdioServerParameters


def work(step):
    """Stands for the model: does what the step says and returns its results."""
    if "impossible" in step["title"].lower():
        raise RuntimeError("this cannot be done")
    return {"summary": f"did: {step['title']}"}


async def main(directory, program):
    server = StdioServerParameters(command=program, args=["mcp"], cwd=directory)
    async with Client(server) as client:

        async def call(tool, **arguments):
            return (await client.call_tool(tool, arguments)).structured_content

        brief = await call("brief", max_tokens=2000)
        if not brief["ok"]:
            sys.exit(f"{brief['error']['message']}\nhint: {brief['error']['hint']}")
        for section in brief["sections"]:
            print(f"{section['section']}: {section['text'].splitlines()[0]}")

        while (claimed := await call("step", verb="next", claim=True))["ok"]:
            step = claimed["step"]
            print(f"> {step['number']} {step['title']}")
            try:
                output = work(step)
            except RuntimeError as error:
                await call("step", verb="fail", step=step["id"], error=str(error))
                await call("context", verb="add", text=f"Step {step['number']}: {error}")
                continue
            done = await call("step", verb="done", step=step["id"], output=output, cost=0.01)
            print(done["message"] if done["ok"] else done["error"]["message"])

        status = await call("status")
        print(f"{status['status']}: {status['completed']} done, {status['failed']} failed")


asyncio.run(main(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "statedir"))
