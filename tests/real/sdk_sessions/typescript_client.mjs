// A whole session of the official TypeScript SDK's client (`@modelcontextprotocol/client`) with the
// reference server; prints as JSON what came of it.
//
//     node typescript_client.mjs (legacy|auto) (URL | COMMAND ARG...)

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

import * as session from "./whole_session.mjs";

const [mode, target, ...rest] = process.argv.slice(2);
const overHttp = target.includes("://");
const transport = overHttp
  ? new StreamableHTTPClientTransport(new URL(target))
  : new StdioClientTransport({ command: target, args: rest });
const client = new Client(
  { name: "typescript-client", version: "1.0.0" },
  { capabilities: session.CAPABILITIES, versionNegotiation: { mode } },
);
client.setRequestHandler("roots/list", session.roots);
client.setRequestHandler("elicitation/create", session.elicit);
client.setRequestHandler("sampling/createMessage", session.sample);

let logged = 0;
client.setNotificationHandler("notifications/message", () => {
  logged += 1;
});
const { tell, done } = session.changes(4);
for (const what of ["tools/list_changed", "prompts/list_changed", "resources/list_changed"]) {
  client.setNotificationHandler(`notifications/${what}`, tell);
}
client.setNotificationHandler("notifications/resources/updated", tell);

async function subscribe(revision) {
  if (revision < "2026-07-28") {
    await client.subscribeResource({ uri: session.COUNTER });
    await session.change(client);
    const changes = await done;
    await client.unsubscribeResource({ uri: session.COUNTER });
    return changes;
  }
  const subscription = await client.listen({
    toolsListChanged: true,
    promptsListChanged: true,
    resourcesListChanged: true,
    resourceSubscriptions: [session.COUNTER],
  });
  await session.change(client);
  const changes = await done;
  await subscription.close();
  return changes;
}

await client.connect(transport);
try {
  const revision = client.getNegotiatedProtocolVersion();
  if (revision < "2026-07-28") {
    await client.ping();
    await client.setLoggingLevel("warning");
  }
  // In the modern era each request says which log messages it wants.
  const _meta = { "io.modelcontextprotocol/logLevel": "warning" };
  const did = await session.useEverything(client, (call, options) =>
    client.callTool(revision < "2026-07-28" ? call : { ...call, _meta }, options),
  );
  const changes = await subscribe(revision);
  console.log(JSON.stringify({ revision, ...did, changes, logged }));
  if (overHttp && revision < "2026-07-28") await transport.terminateSession();
} finally {
  await client.close();
}
