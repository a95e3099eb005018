// What a whole session with the reference server is made of, for either version of the TypeScript
// SDK: what the client answers, and all that it asks for.

export const COUNTER = "reference://counter";
export const CAPABILITIES = {
  elicitation: { form: {}, url: {} },
  sampling: { tools: {} },
  roots: {},
};

const ANSWERS = { name: "Ada", mood: "sad", agreed: true, title: "Whales" };
const CALLS = [
  ["echo", { text: "hé" }],
  ["all_content", {}],
  ["add", { a: 1, b: 2 }],
  ["fail", {}],
  ["count_slowly", { steps: 3, delayMs: 40 }],
  ["greet_user", {}],
  ["query_region", { region: "öst", query: "q", limit: 5 }],
  ["answer_later", {}],
  ["collect_profile", {}],
  ["visit_page", {}],
  ["ask_model", { question: "Why?" }],
  ["ask_model_with_tools", { question: "1 + 2?" }],
  ["list_roots", {}],
  ["log_every_level", {}],
];

export function roots() {
  return { roots: [{ uri: "file:///home/ada", name: "home" }] };
}

export function elicit({ params }) {
  if (params.mode === "url") return { action: "accept" };
  const asked = Object.keys(params.requestedSchema.properties);
  const known = Object.entries(ANSWERS).filter(([name]) => asked.includes(name));
  return { action: "accept", content: Object.fromEntries(known) };
}

export function sample({ params }) {
  const answer = { role: "assistant", model: "m" };
  if (params.tools && params.messages.length === 1) {
    const use = { type: "tool_use", id: "use-1", name: "add", input: { a: 1, b: 2 } };
    return { ...answer, content: [use], stopReason: "toolUse" };
  }
  return { ...answer, content: { type: "text", text: "So." }, stopReason: "endTurn" };
}

async function all(fetch, member) {
  let count = 0;
  let cursor;
  do {
    const page = await fetch(cursor === undefined ? {} : { cursor });
    count += page[member].length;
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return count;
}

async function refused(request) {
  try {
    await request;
  } catch (error) {
    return error.code;
  }
  return null;
}

// Fulfilled once this many changes were told of.
export function changes(expected) {
  const told = [];
  let enough;
  const done = new Promise((resolve) => {
    enough = resolve;
  });
  const tell = ({ method }) => {
    told.push(method.replace("notifications/", ""));
    if (told.length === expected) enough(told);
  };
  return { tell, done };
}

export async function change(client) {
  for (const name of ["touch_counter", "announce_lists"]) {
    await client.callTool({ name, arguments: {} });
  }
}

export function told(result) {
  const texts = result.content.filter(({ type }) => type === "text").map(({ text }) => text);
  return result.isError ? "error" : texts.join(" ");
}

// `call` calls a tool and reports its progress to `onprogress`.
export async function useEverything(client, call) {
  const did = { progress: [] };
  did.tools = await all((page) => client.listTools(page), "tools");
  did.resources = await all((page) => client.listResources(page), "resources");
  did.templates = await all((page) => client.listResourceTemplates(page), "resourceTemplates");
  did.prompts = await all((page) => client.listPrompts(page), "prompts");
  for (const [name, args] of CALLS) {
    const onprogress = ({ progress }) => did.progress.push(progress);
    const options = name === "count_slowly" ? { onprogress } : {};
    did[name] = told(await call({ name, arguments: args }, options));
  }
  for (const name of ["welcome", "diary"]) {
    const { contents } = await client.readResource({ uri: `reference://texts/${name}` });
    did[name] = contents[0].text;
  }
  const greeting = { name: "greet", arguments: { name: "Ada" } };
  did.greet = (await client.getPrompt(greeting)).messages.length;
  did.tell_story = (await client.getPrompt({ name: "tell_story" })).messages.length;
  const languages = await client.complete({
    ref: { type: "ref/prompt", name: "greet" },
    argument: { name: "language", value: "g" },
  });
  did.languages = languages.completion.values;
  const sections = await client.complete({
    ref: { type: "ref/resource", uri: "reference://notes/{topic}/{section}" },
    argument: { name: "section", value: "" },
    context: { arguments: { topic: "base" } },
  });
  did.sections = sections.completion.values;
  did["unknown tool"] = await refused(call({ name: "nope", arguments: {} }));
  did["unknown resource"] = await refused(client.readResource({ uri: "reference://nope" }));
  return did;
}
