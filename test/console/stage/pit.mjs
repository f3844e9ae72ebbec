// A server full of hostile content: every payload of the console's corpus in every
// place where somebody else's words come to be shown.
import { dangers, schemas, texts, values, words } from "../../../web/src/parts/hostile.mjs";
import { call, send } from "./models.mjs";
import { eventually } from "./stage.mjs";

export { dangers, texts };

/** How large a payload may be to go through a model, a few bytes at a time. */
const modest = 4000;
const small = (v) => JSON.stringify(v).length < modest;

/** Splits a list into lists of `n`. */
const pieces = (list, n) => Array.from({ length: Math.ceil(list.length / n) }, (_, i) => list.slice(i * n, (i + 1) * n));

/** A call that the server may refuse for what it is given; says so. */
async function tried(refused, promise) {
  try {
    return await promise;
  } catch (error) {
    if (!/: (400|413|422) /.test(String(error))) throw error;
    refused.push(String(error));
    return undefined;
  }
}

/** Posts all texts and values as messages of a person; the spaces that show them. */
export async function postAll(server, refused) {
  const spaces = [];
  const space = async (id, name, batches) => {
    await server.at("POST", "/spaces", { id, name, members: ["operator"] }, { as: "operator" });
    const post = (parts) => server.at("POST", `/spaces/${id}/messages`, { parts }, { as: "operator" });
    for (const parts of batches) {
      // A refused part takes the message with it: then each of them is posted alone.
      if (await tried([], post(parts))) continue;
      for (const part of parts) await tried(refused, post([part]));
    }
    spaces.push(id);
  };
  const text = ({ text }) => ({ type: "text", text });
  const data = ({ name, value }) => ({ type: "data", name, data: value });
  const light = texts.filter((t) => t.text.length < modest);
  await space("texts", "Texts", pieces(light.map(text), 12));
  await space("heavy", "Heavy", texts.filter((t) => t.text.length >= modest).map((t) => [text(t)]));
  await space("values", "Values", values.map((v) => [data(v)]));
  // Those that no name may hold come first, so that few messages are refused for them.
  const strange = ({ text }) => /[\p{Cc}\u2028\u2029\ud800-\udfff]/u.test(text);
  const short = words.filter((w) => w.text.length <= 200).sort((a, b) => strange(b) - strange(a));
  await space("names", "Names", pieces(short.flatMap(({ text }) => [{ type: "data", name: text, data: { [text]: text } }]), 8));
  return spaces;
}

/** Hostile names of entities, spaces, sessions, keys, plans and files; hostile agents, and what they call and ask. */
export async function nameAll(server, models, refused) {
  const some = (n) => words.filter((w, i) => i % n === 0 && w.text.trim() !== "" && w.text.length <= 200);
  const attempt = (promise) => tried(refused, promise);
  const members = [];
  for (const [i, { text }] of some(2).entries()) {
    const made = await attempt(server.at("POST", "/entities", { id: `e${i}`, kind: i % 2 ? "agent" : "human", name: text, description: text }));
    if (made) members.push(`e${i}`);
  }
  await server.at("POST", "/spaces", { id: "crowd", name: "Crowd", members: ["operator", ...members] }, { as: "operator" });
  for (const [i, id] of members.slice(0, 40).entries()) await server.says(id, "crowd", words[i].text || "x", { triggerAgents: false, mentions: ["operator"] }).catch((e) => refused.push(String(e)));
  for (const [i, { text }] of some(6).entries()) {
    await attempt(server.at("POST", "/spaces", { id: `s${i}`, name: text, members: ["operator"] }, { as: "operator" }));
    await attempt(server.call("POST", "/sessions", { id: `x${i}`, name: text }));
    await attempt(server.call("POST", "/keys", { role: "service", sessionId: "default", name: text }));
  }
  await server.at("POST", "/spaces", { id: "files", name: "Files", members: ["operator"] }, { as: "operator" });
  for (const { text } of some(5)) {
    const file = await attempt(server.call("POST", `/sessions/default/files?name=${encodeURIComponent(text.toWellFormed?.() ?? text.replace(/[\ud800-\udfff]/g, ""))}`, "<script>alert(1)</script>", { as: "operator", type: "text/html" }));
    if (file) await attempt(server.at("POST", "/spaces/files/messages", { parts: [{ type: "file", name: file.name, mediaType: file.mediaType, size: file.size, url: file.url }] }, { as: "operator" }));
  }
  await agents(server, models, some, attempt);
}

async function agents(server, models, some, attempt) {
  const shown = { executionType: "basic", execution: { mode: "pass-through" }, displayTool: true, inputSchema: { type: "object" } };
  const given = [
    ...values.filter((v) => small(v.value)).map((v) => (typeof v.value === "object" && v.value !== null && !Array.isArray(v.value) ? v.value : { value: v.value })),
    ...some(3).map(({ text }) => ({ title: text, [text]: text, url: text, rows: [{ [text]: text, n: 1 }, { [text]: "x", n: 2 }] })),
  ];
  models.play("shower", [{ toolCalls: [...given.map((args) => call("show", { targetSpaceId: "tools", ...args })), ...some(4).map(({ text }) => send("tools", text))] }, { content: "<img src=x onerror=alert(1)>" }], 0);
  await server.at("PUT", "/agents/shower", models.agent("<img src=x onerror=alert(1)>", "shower", { agent: { system: "<script>alert(1)</script>", description: "<svg onload=alert(1)>" }, tools: [{ name: "show", description: "<script>alert(1)</script>", ...shown }] }));
  await server.at("POST", "/spaces", { id: "tools", name: "Tools", members: ["operator", "shower"] }, { as: "operator" });

  // Each schema that the server takes is a tool that waits for its result; the words are questions.
  const waiting = [];
  for (const [i, s] of schemas.filter((x) => small(x.value)).entries()) {
    const tool = { name: `fill${i}`, executionType: "basic", execution: { mode: "no-execution" }, displayTool: true, inputSchema: { type: "object" }, outputSchema: s.value };
    const made = await attempt(server.at("PUT", "/agents/asker", models.agent("Asker", "asker", { tools: [tool] })));
    if (made) waiting.push(tool);
  }
  const html = some(8).map(({ text }) => text);
  const described = html.map((text, i) => ({
    name: `say${i}`, executionType: "basic", execution: { mode: "no-execution" }, displayTool: true, inputSchema: { type: "object" },
    outputSchema: { type: "object", title: text, description: text, required: ["a"], properties: { a: { type: "string", title: text, description: text, default: text }, b: { enum: [text, "b"], title: text } } },
  }));
  const permitted = { name: "dare", description: "x", ...shown, requiresPermission: true };
  const calls = [...waiting, ...described].map((t) => call(t.name, { targetSpaceId: "asked", text: html[0] }));
  models.play("asker", [{ toolCalls: [...calls, ...html.map((text) => call("ask_user", { question: text, options: [text, "other"] })), ...html.map((text) => call("dare", { targetSpaceId: "asked", [text]: text, title: text }))] }, { content: "Done." }], 0);
  await server.at("PUT", "/agents/asker", models.agent("Asker", "asker", { tools: [...waiting, ...described, permitted] }));
  await server.at("POST", "/spaces", { id: "asked", name: "Asked", members: ["operator", "asker"] }, { as: "operator" });
  for (const [i, { text }] of some(8).entries()) await attempt(server.at("POST", "/agents/asker/plans", { name: `${text}`.slice(0, 100), instruction: text, cron: `${i} 9 * * *` }));
  await server.says("operator", "tools", "Show <img src=x onerror=alert(1)>.");
  await server.says("operator", "asked", "Ask.");
  await eventually("the agent has shown all of it", async () => (await server.at("GET", "/runs?agent=shower&status=completed")).items[0]);
  await eventually("the agent asks", async () => (await server.at("GET", "/runs?agent=asker&status=waiting_tool")).items[0]);
}
