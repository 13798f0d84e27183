"""The official Python client against a gateway: prints one JSON object with what it saw.

Usage: python_client.py MODE URL [TOKEN]   (MODE is legacy, auto or a protocol version)
       python_client.py MODE stdio COMMAND [ARGUMENT…]
"""

import asyncio
import json
import sys

from mcp import Client, StdioServerParameters
from mcp.types import ElicitResult


async def answer(context, params):
    return ElicitResult(action="accept", content={"name": "Ada"})


def target():
    if sys.argv[2] == "stdio":
        return StdioServerParameters(command=sys.argv[3], args=sys.argv[4:])
    if len(sys.argv) < 4:
        return sys.argv[2]
    import httpx2
    from mcp.client.streamable_http import streamable_http_client

    headers = {"Authorization": f"Bearer {sys.argv[3]}"}
    return streamable_http_client(sys.argv[2], http_client=httpx2.AsyncClient(headers=headers, timeout=30))


async def main():
    seen = {"progress": []}

    async def progress(done, total, message):
        seen["progress"].append(done)

    async with Client(target(), mode=sys.argv[1], elicitation_callback=answer) as client:

        async def run(name, **arguments):
            result = await client.call_tool("tool_browse", {"query": name, "top_k": 50, "format": "json"})
            cards = json.loads(result.content[0].text)
            identifier = next(card["id"] for card in cards if card["name"] == name)
            call = {"tool_id": identifier, "args": arguments}
            result = await client.call_tool("tool_execute", call, progress_callback=progress)
            return result.content[0].text

        seen["version"] = str(client.protocol_version) if hasattr(client, "protocol_version") else ""
        seen["tools"] = [tool.name for tool in (await client.list_tools()).tools]
        seen["echo"] = await run("echo", text="héllo")
        seen["ask"] = await run("ask")
        seen["done"] = await run("progress")
        await asyncio.sleep(0.1)
    print(json.dumps(seen))


asyncio.run(main())
