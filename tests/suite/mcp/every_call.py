"""Lists everything and makes every call with the Python client, in both eras of the protocol.

Usage: every_call.py SERVER DIRECTORY CALLS MODE, where MODE is `legacy` or `auto`.
"""

import asyncio
import json
import sys

from mcp import Client, StdioServerParameters

server, directory, calls, mode = sys.argv[1:]


async def main():
    parameters = StdioServerParameters(command=server, args=["mcp"], cwd=directory)
    async with Client(parameters, mode=mode) as client:
        tools = (await client.list_tools()).tools
        assert all(tool.description and tool.output_schema for tool in tools)
        names = {tool.name for tool in tools}
        with open(calls, encoding="utf-8") as file:
            wanted = json.load(file)
        for call in wanted:
            result = await client.call_tool(call["tool"], call["arguments"])
            document = result.structured_content
            assert json.loads(result.content[0].text) == document
            code = document.get("error", {}).get("code")
            assert code == call.get("code"), f"{call}: {document}"
            assert result.is_error == (code is not None), f"{call}: {result}"
            names.discard(call["tool"])
        assert not names, f"never called: {names}"
        resources = (await client.list_resources()).resources
        for resource in resources:
            contents = (await client.read_resource(resource.uri)).contents
            assert contents[0].text
        prompts = (await client.list_prompts()).prompts
        for prompt in prompts:
            arguments = {argument.name: "x" for argument in prompt.arguments or []}
            assert (await client.get_prompt(prompt.name, arguments)).messages[0].content.text
        version = client.protocol_version
        print(f"{version}: {len(wanted)} calls, {len(resources)} resources, {len(prompts)} prompts")


asyncio.run(main())
