// A server with something on every page: spaces in each of their states, agents that
// wait, write, have failed and have ended, plans, versions, a second session that is
// empty. The sweep over all pages visits these.
import { call, send } from "./models.mjs";
import { eventually } from "./stage.mjs";

const tool = (name, properties, more = {}) => ({
  name, description: `Does ${name}.`, executionType: "basic", execution: { mode: "no-execution" }, displayTool: true, inputSchema: { type: "object", properties }, ...more,
});
const text = { type: "string" };

const booking = tool("bookRoom", { room: text, hour: { type: "integer" } }, { execution: { mode: "pass-through" }, requiresPermission: true });
const survey = tool("askDelivery", { question: text }, {
  outputSchema: {
    type: "object", required: ["street", "express"],
    properties: { street: { type: "string", title: "Street" }, floor: { type: "integer" }, express: { type: "boolean" }, size: { enum: ["S", "M", "L"] }, notes: { type: "array", items: text } },
  },
});
const card = tool("showProductCard", { name: text, price: { type: "number" } }, { outputSchema: { type: "object", properties: { chosen: { type: "boolean" } }, required: ["chosen"] } });
const table = tool("showTable", { rows: { type: "array", items: { type: "object" } } }, { execution: { mode: "pass-through" } });

const saga = "## The log\n\nThe **school** turned at `7` knots.\n\n- one fish\n- two fish\n\n| knots | fish |\n| --- | ---: |\n| 7 | 49 |\n\n```js\nconst fish = 2;\n```\n\n";

/** Agents, spaces and runs; the ids of what a page has to be opened with. */
export async function scenery(server, models) {
  const space = (id, name, members, more = {}) => server.at("POST", "/spaces", { id, name, members: ["operator", ...members], ...more }, { as: "operator" });
  const agent = (id, name, play, more) => server.at("PUT", `/agents/${id}`, models.agent(name, play, more));

  models.play("clerk", [
    { toolCalls: [
      send("desk", "Two rooms are free. Which one, and where do I send the badge?"), call("bookRoom", { targetSpaceId: "desk", room: "blue", hour: 10 }), call("bookRoom", { targetSpaceId: "desk", room: "green", hour: 11 }),
      call("askDelivery", { targetSpaceId: "desk", question: "Where to?" }), call("showProductCard", { targetSpaceId: "desk", name: "Lark Air 13", price: 1199 }),
    ] },
    { content: "Done." },
  ]);
  models.play("teller", [{ toolCalls: [send("river", saga.repeat(70))] }, { content: "Done." }], 25);
  models.play("counter", [
    { toolCalls: [send("ledger", `${saga}That is all.`), call("showTable", { targetSpaceId: "ledger", rows: [{ fish: "herring", count: 12 }, { fish: "cod", count: 7 }] })] },
    { content: "Done." },
  ]);
  await agent("clerk", "Clerk", "clerk", { agent: { description: "books rooms", system: "You book rooms." }, tools: [booking, survey, card] });
  await agent("teller", "Teller", "teller");
  await agent("counter", "Counter", "counter", { tools: [table] });
  await agent("counter", "Counter", "counter", { agent: { system: "You count the cormorants." }, tools: [table] }); // version 2
  // No key for it, so that its runs fail before anybody is asked.
  await server.at("PUT", "/agents/keyless", { version: "1.0", agent: { name: "Keyless", system: "x" }, model: { provider: "anthropic", name: "some-model" } });
  await server.at("POST", "/entities", { id: "scout", kind: "agent", name: "Scout", description: "looks around" });
  await server.at("POST", "/entities", { id: "ada", kind: "human", name: "Ada Lovelace" });

  await space("quiet", "Quiet corner", ["ada"]);
  await space("desk", "Front desk", ["clerk", "scout", "ada"]);
  await space("river", "River", ["teller"]);
  await space("ledger", "Ledger", ["counter", "ada"]);
  await space("failing", "Failing", ["keyless"]);
  await space("done", "Done and closed", ["ada"]);
  await server.says("ada", "done", "We have **everything** that we need.");
  await server.at("POST", "/spaces/done/close", { summary: "Everything was delivered." }, { as: "operator" });
  await server.at("POST", "/spaces", { id: "theirs", name: "Ada's own", members: ["ada"] }, { as: "ada" });
  await server.says("ada", "theirs", "A note to myself.");

  await server.at("POST", "/agents/counter/plans", { name: "morning report", instruction: "Count the fish.", cron: "0 9 * * mon-fri", timeZone: "Europe/Berlin" });
  await server.at("POST", "/agents/counter/plans", { name: "new year", instruction: "Count them all.", scheduledAt: "2031-01-01T00:00:00Z" });
  await server.call("POST", "/sessions", { id: "blank", name: "A blank session" });

  await server.says("ada", "ledger", "How many cormorants are there, @counter?");
  await server.says("ada", "ledger", "And **herrings**? See https://example.org/herrings.", { mentions: ["operator"], triggerAgents: false });
  await server.says("operator", "failing", "Are you there?");
  await server.says("operator", "desk", "I need a room.");
  const runs = async (query) => (await server.at("GET", `/runs?${query}`)).items;
  const first = (query) => eventually(`there is a run: ${query}`, async () => (await runs(query))[0]);
  const ended = await first("agent=counter&status=completed");
  const failed = await first("agent=keyless&status=failed");
  const waiting = await first("agent=clerk&status=waiting_tool");
  const pending = (await server.at("GET", "/pending-actions", undefined, { as: "operator" })).items;
  const book = pending.filter((p) => p.toolName === "bookRoom");
  await server.says("operator", "desk", "And one for tomorrow.");
  await eventually("two more wait", async () => (await server.at("GET", "/pending-actions", undefined, { as: "operator" })).items.length >= 8);
  await server.at("POST", `/pending-actions/${book[0].id}/answer`, { approved: false, reason: "It is taken." }, { as: "ada" });
  await server.says("operator", "river", "Write me a long story.");
  await eventually("it is being written", async () => (await server.at("GET", "/spaces/river/messages")).items.at(-1).status === "streaming");
  return { ended: ended.id, failed: failed.id, waiting: waiting.id, pending: book[1].id };
}
