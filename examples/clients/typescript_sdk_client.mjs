// One session of the official TypeScript SDK's client, over stdio or Streamable HTTP.
//
//     node typescript_sdk_client.mjs TOOL ARGUMENTS URL
//     node typescript_sdk_client.mjs TOOL ARGUMENTS COMMAND ARG...
//
// It lists what the server has, calls TOOL with ARGUMENTS (a JSON object), reads the first resource,
// gets the first prompt that needs no arguments, and prints what it did. The SDK is looked for
// beside this file or above it.

import { cwd } from "node:process";
import { pathToFileURL } from "node:url";

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ListRootsRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const [tool, argumentsText, target, ...rest] = process.argv.slice(2);

const transport = target.includes("://")
  ? new StreamableHTTPClientTransport(new URL(target))
  : new StdioClientTransport({ command: target, args: rest });

const client = new Client(
  { name: "typescript-sdk-client", version: "1.0.0" },
  { capabilities: { roots: {} } },
);
client.setRequestHandler(ListRootsRequestSchema, () => ({
  roots: [{ uri: pathToFileURL(cwd()).href, name: "here" }],
}));

async function use() {
  const did = {};
  const offers = client.getServerCapabilities();
  await client.ping();
  if (offers.tools) {
    did.tools = (await client.listTools()).tools.length;
    const called = await client.callTool(
      { name: tool, arguments: JSON.parse(argumentsText) },
      undefined,
      { onprogress: ({ progress, total }) => console.error(`${progress} of ${total}`) },
    );
    did.called = !called.isError;
  }
  if (offers.resources) {
    const { resources } = await client.listResources();
    did.templates = (await client.listResourceTemplates()).resourceTemplates.length;
    if (resources.length > 0) {
      did.read = (await client.readResource({ uri: resources[0].uri })).contents.length;
    }
  }
  if (offers.prompts) {
    const { prompts } = await client.listPrompts();
    const plain = prompts.find((p) => !p.arguments?.some((a) => a.required));
    if (plain) did.messages = (await client.getPrompt({ name: plain.name })).messages.length;
  }
  return did;
}

await client.connect(transport);
try {
  console.log(JSON.stringify(await use()));
} finally {
  if (transport instanceof StreamableHTTPClientTransport) await transport.terminateSession();
  await client.close();
}
