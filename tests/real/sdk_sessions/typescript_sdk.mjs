// A whole session of version 1 of the official TypeScript SDK (`@modelcontextprotocol/sdk`), which
// knows tasks, with the reference server; prints as JSON what came of it.
//
//     node typescript_sdk.mjs (URL | COMMAND ARG...)

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import * as types from "@modelcontextprotocol/sdk/types.js";

import * as session from "./whole_session.mjs";

const [target, ...rest] = process.argv.slice(2);
const overHttp = target.includes("://");
const transport = overHttp
  ? new StreamableHTTPClientTransport(new URL(target))
  : new StdioClientTransport({ command: target, args: rest });
const client = new Client(
  { name: "typescript-sdk", version: "1.0.0" },
  { capabilities: session.CAPABILITIES },
);
client.setRequestHandler(types.ListRootsRequestSchema, session.roots);
client.setRequestHandler(types.ElicitRequestSchema, session.elicit);
client.setRequestHandler(types.CreateMessageRequestSchema, session.sample);

let logged = 0;
client.setNotificationHandler(types.LoggingMessageNotificationSchema, () => {
  logged += 1;
});
const { tell, done } = session.changes(4);
for (const schema of [
  types.ToolListChangedNotificationSchema,
  types.PromptListChangedNotificationSchema,
  types.ResourceListChangedNotificationSchema,
  types.ResourceUpdatedNotificationSchema,
]) {
  client.setNotificationHandler(schema, tell);
}

// Call a tool as a task: what the stream of its messages says, in order.
async function asTask(name, args) {
  const said = [];
  const stream = client.experimental.tasks.callToolStream(
    { name, arguments: args },
    types.CallToolResultSchema,
    { task: { ttl: 60000 } },
  );
  for await (const message of stream) {
    if (message.type === "taskStatus") {
      if (said.at(-1) !== message.task.status) said.push(message.task.status);
    } else if (message.type === "result") {
      said.push(session.told(message.result));
    } else {
      said.push(message.type);
    }
  }
  return said;
}

async function tasks() {
  const did = {};
  did.report = (await asTask("compile_report", { chapters: 2 })).at(-1);
  const started = await client.request(
    {
      method: "tools/call",
      params: { name: "count_slowly", arguments: { steps: 99, delayMs: 900 }, task: {} },
    },
    types.CreateTaskResultSchema,
  );
  const { taskId } = started.task;
  did.get = (await client.experimental.tasks.getTask(taskId)).status;
  did.cancel = (await client.experimental.tasks.cancelTask(taskId)).status;
  did.list = (await client.experimental.tasks.listTasks()).tasks.map(({ status }) => status);
  return did;
}

await client.connect(transport);
try {
  await client.ping();
  await client.setLoggingLevel("warning");
  const did = await session.useEverything(client, (call, options) =>
    client.callTool(call, undefined, options),
  );
  did.counted = await asTask("count_slowly", { steps: 3, delayMs: 1 });
  did.tasks = await tasks();
  await client.subscribeResource({ uri: session.COUNTER });
  await session.change(client);
  did.changes = await done;
  await client.unsubscribeResource({ uri: session.COUNTER });
  console.log(JSON.stringify({ ...did, logged }));
  if (overHttp) await transport.terminateSession();
} finally {
  await client.close();
}
