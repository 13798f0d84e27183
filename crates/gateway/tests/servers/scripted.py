"""An MCP server on stdio that misbehaves on request. Standard library only; speaks both protocol eras.

Arguments: --era session|stateless  --tools N (extra tools)  --page N (page size)  --name NAME
           --ignore-eof (stay alive after the input ends)  --log FILE (append every request's method)
           --asleep-while FILE (say nothing as long as the file exists)
"""

import argparse
import json
import os
import subprocess
import sys
import threading
import time

options = argparse.ArgumentParser()
options.add_argument("--era", default="session")
options.add_argument("--tools", type=int, default=0)
options.add_argument("--page", type=int, default=0)
options.add_argument("--name", default="scripted")
options.add_argument("--ignore-eof", action="store_true")
options.add_argument("--log", default="")
options.add_argument("--asleep-while", default="")
options = options.parse_args()

while options.asleep_while and os.path.exists(options.asleep_while):
    time.sleep(0.05)

lock = threading.Lock()
answers = {}
cancelled = set()
extra_tools = []
dropped_tools = set()
subscriptions = []
state = {"calls": 0}


def send(message):
    write(json.dumps({"jsonrpc": "2.0", **message}))


def write(line):
    with lock:
        sys.stdout.write(line + "\n")
        sys.stdout.flush()


def text(value, **more):
    return {"resultType": "complete", "content": [{"type": "text", "text": value}], **more}


def tool(name, description="", properties=None, required=(), **more):
    schema = {"type": "object", "properties": properties or {}, "required": list(required)}
    definition = {"name": name, "inputSchema": schema, **more}
    if description:
        definition["description"] = description
    return definition


READ_ONLY = {"annotations": {"readOnlyHint": True}}


def tools():
    listed = [
        tool("echo", "Returns the text it is given.", {"text": {"type": "string"}}, ["text"]),
        tool("add", "Adds two integers.", {"a": {"type": "integer"}, "b": {"type": "integer"}}, ["a", "b"], **READ_ONLY),
        tool("count", "Counts its own calls.", **READ_ONLY),
        tool("silent_tool_without_description"),
        tool("versioned.get", "A tool with a declared version.", _meta={"version": "2"}),
        tool("die", "Ends the process in the middle of the call."),
        tool("hang", "Never answers."),
        tool("slow", "Answers after some seconds.", {"seconds": {"type": "number"}}),
        tool("flood", "Returns megabytes of text.", {"megabytes": {"type": "integer"}}, ["megabytes"]),
        tool("rows", "Returns a JSON table.", {"count": {"type": "integer"}}, ["count"]),
        tool("garbage", "Answers with invalid JSON."),
        tool("noise", "Writes a log line to stdout before it answers."),
        tool("leak", "Returns a credential."),
        tool("secret_error", "Fails with a credential in the message."),
        tool("tool_error", "Returns a result marked as an error."),
        tool("rpc_error", "Answers with a JSON-RPC error.", {"message": {"type": "string"}}),
        tool("progress", "Reports progress three times."),
        tool("ask", "Asks the user for a name."),
        tool("change", "Changes the tool list, then answers."),
        tool("burst", "Announces many changes at once."),
        tool("cancelled", "Says which requests were cancelled."),
        tool("picture", "Returns an image and a sound."),
        tool("structured", "Returns structured content.", {"n": {"type": "integer"}}, ["n"]),
        tool("typed", "Returns structured content it declares.", outputSchema={"type": "object", "properties": {"n": {"type": "integer"}}}),
        tool("spawn", "Starts a grandchild that sleeps; returns its process id."),
        tool("pid", "Returns the process id."),
    ]
    listed = [entry for entry in listed if entry["name"] not in dropped_tools]
    listed += [tool(f"extra_tool_{n:05d}", f"Does the thing number {n}.") for n in range(options.tools)]
    return listed + [tool(name, "Added while running.") for name in extra_tools]


def page(key, entries, params):
    start = int((params or {}).get("cursor") or 0)
    size = options.page or len(entries) or 1
    result = {"resultType": "complete", key: entries[start : start + size]}
    if start + size < len(entries):
        result["nextCursor"] = str(start + size)
    return result


def changed():
    method = {"method": "notifications/tools/list_changed"}
    if options.era == "session":
        send(method)
    for subscription in list(subscriptions):
        send({**method, "params": {"_meta": {"io.modelcontextprotocol/subscriptionId": subscription}}})


def ask_in_session(identifier):
    question = f"ask-{identifier}"
    answers[question] = None
    event = threading.Event()
    answers[question] = [event, None]
    send({"id": question, "method": "elicitation/create", "params": QUESTION})
    event.wait(30)
    return answers.pop(question)[1] or {"action": "cancel"}


QUESTION = {
    "message": "What is your name?",
    "requestedSchema": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
}


def call(identifier, params):
    name = params["name"]
    arguments = params.get("arguments") or {}
    state["calls"] += 1
    token = (params.get("_meta") or {}).get("progressToken")
    if name == "echo":
        return text(arguments["text"])
    if name == "add":
        total = arguments["a"] + arguments["b"]
        return text(str(total), structuredContent={"result": total})
    if name == "count":
        return text(str(state["calls"]))
    if name == "die":
        os._exit(3)
    if name == "hang":
        time.sleep(3600)
    if name == "slow":
        time.sleep(arguments.get("seconds", 1))
        return text("slow but sure")
    if name == "flood":
        return text("x" * (arguments["megabytes"] * 1000 * 1000))
    if name == "rows":
        rows = [{"id": n, "name": f"row {n}", "ok": n % 2 == 0} for n in range(arguments["count"])]
        return text(json.dumps(rows, indent=2))
    if name == "garbage":
        write('{"jsonrpc":"2.0","id":%d,"result":{"content":[oops]}}' % identifier)
        return None
    if name == "noise":
        write("just a log line, not a message")
        return text("after noise")
    if name == "leak":
        return text("token ghp_" + "a1B2" * 9)
    if name == "secret_error":
        raise RuntimeError("cannot use ghp_" + "a1B2" * 9)
    if name == "tool_error":
        return text("the thing does not exist", isError=True)
    if name == "rpc_error":
        raise RuntimeError(arguments.get("message", "failed"))
    if name == "progress":
        for step in (1, 2, 3):
            if token is not None:
                params = {"progressToken": token, "progress": step, "total": 3, "message": f"step {step}"}
                send({"method": "notifications/progress", "params": params})
                time.sleep(0.02)
        return text("done")
    if name == "ask":
        if options.era == "session":
            answer = ask_in_session(identifier)
        elif not params.get("inputResponses"):
            request = {"method": "elicitation/create", "params": {"mode": "form", **QUESTION}}
            return {"resultType": "input_required", "inputRequests": {"who": request}, "requestState": "opaque ✓ state"}
        elif params.get("requestState") != "opaque ✓ state":
            raise RuntimeError("the state came back altered")
        else:
            answer = params["inputResponses"]["who"]
        return text(f"{answer['action']}: {(answer.get('content') or {}).get('name', '')}")
    if name == "change":
        dropped_tools.add("echo")
        extra_tools.append("added_later")
        changed()
        time.sleep(0.3)
        return text("changed")
    if name == "burst":
        for n in range(50):
            extra_tools.append(f"burst_{n}")
            changed()
        return text("burst")
    if name == "cancelled":
        return text(json.dumps(sorted(cancelled)))
    if name == "picture":
        content = [
            {"type": "image", "data": "aGVsbG8=", "mimeType": "image/png"},
            {"type": "audio", "data": "aGVsbG8=", "mimeType": "audio/wav"},
        ]
        return {"resultType": "complete", "content": content}
    if name == "structured":
        return text(json.dumps({"n": arguments["n"]}), structuredContent={"n": arguments["n"]})
    if name == "typed":
        return text('{"n": 7}', structuredContent={"n": 7})
    if name == "spawn":
        return text(str(subprocess.Popen(["sleep", "300"]).pid))
    if name == "pid":
        return text(str(os.getpid()))
    if name in extra_tools:
        return text("I am new")
    raise LookupError(name)


INFO = {"name": options.name, "version": "1"}
CAPABILITIES = {"tools": {"listChanged": True}, "resources": {}, "prompts": {}}
RESOURCES = [
    {"uri": "memo://one", "name": "one", "description": "The first memo.", "mimeType": "text/plain"},
    {"uri": "memo://big", "name": "big", "description": "A long memo.", "mimeType": "text/plain"},
]
PROMPTS = [{"name": "greet", "description": "Greets someone.", "arguments": [{"name": "who", "required": True}]}]


def handle(identifier, method, params):
    if method == "initialize" and options.era == "session":
        version = params.get("protocolVersion", "2025-11-25")
        return {"protocolVersion": version, "capabilities": CAPABILITIES, "serverInfo": INFO}
    if method == "server/discover" and options.era == "stateless":
        meta = {"io.modelcontextprotocol/serverInfo": INFO}
        return {
            "resultType": "complete",
            "supportedVersions": ["2026-07-28"],
            "capabilities": CAPABILITIES,
            "ttlMs": 0,
            "cacheScope": "private",
            "_meta": meta,
        }
    if method == "subscriptions/listen" and options.era == "stateless":
        meta = {"io.modelcontextprotocol/subscriptionId": identifier}
        acknowledged = {"notifications": {"toolsListChanged": True}, "_meta": meta}
        send({"method": "notifications/subscriptions/acknowledged", "params": acknowledged})
        subscriptions.append(identifier)
        return None
    if method == "ping":
        return {}
    if method == "tools/list":
        return page("tools", tools(), params)
    if method == "resources/list":
        return page("resources", RESOURCES, params)
    if method == "resources/templates/list":
        return page("resourceTemplates", [], params)
    if method == "prompts/list":
        return page("prompts", PROMPTS, params)
    if method == "resources/read":
        body = "the memo" if params["uri"] == "memo://one" else "a line of the memo\n" * 5000
        contents = [{"uri": params["uri"], "mimeType": "text/plain", "text": body}]
        return {"resultType": "complete", "contents": contents, "ttlMs": 0, "cacheScope": "private"}
    if method == "prompts/get":
        who = (params.get("arguments") or {}).get("who", "")
        message = {"role": "user", "content": {"type": "text", "text": f"Say hello to {who}."}}
        return {"resultType": "complete", "messages": [message]}
    if method == "tools/call":
        return call(identifier, params)
    raise NotImplementedError(method)


def answer(identifier, method, params):
    try:
        result = handle(identifier, method, params)
    except NotImplementedError:
        send({"id": identifier, "error": {"code": -32601, "message": f"no method {method}"}})
    except Exception as error:  # every failure of a call becomes a JSON-RPC error
        send({"id": identifier, "error": {"code": -32603, "message": str(error)}})
    else:
        if result is not None:
            if options.era == "session":
                result.pop("resultType", None)
            send({"id": identifier, "result": result})


for line in sys.stdin:
    try:
        message = json.loads(line)
    except ValueError:
        continue
    if options.log:
        with open(options.log, "a") as log:
            name = (message.get("params") or {}).get("name", "")
            log.write(f"{message.get('method', 'response')} {name}\n")
    if "method" not in message:
        waiting = answers.get(message.get("id"))
        if waiting:
            waiting[1] = message.get("result")
            waiting[0].set()
    elif "id" not in message:
        if message["method"] == "notifications/cancelled":
            cancelled.add((message.get("params") or {}).get("requestId"))
    else:
        arguments = (message["id"], message["method"], message.get("params") or {})
        threading.Thread(target=answer, args=arguments, daemon=True).start()

while options.ignore_eof:
    time.sleep(1)
os._exit(0)
