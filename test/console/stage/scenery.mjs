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

/** What a coding agent reports of a turn in progress: everything that it does is shown in its own way. */
const turn = [
  { type: "turn.started" },
  { type: "thought", delta: "The test fails because an empty cart has no first line." },
  { type: "text", delta: "I run the test first.", end: true },
  { type: "tool", callId: "t1", tool: "Bash", title: "go test ./cart", args: { command: "go test ./cart -run TestTotal -v", description: "Run the failing test" }, state: "running" },
  { type: "tool", callId: "t1", state: "failed", output: `=== RUN   TestTotal\n# github.com/example/cart\n${Array.from({ length: 40 }, (_, i) => `    cart_test.go:${i + 10}: line ${i} has no price`).join("\n")}\n--- FAIL: TestTotal (0.00s)` },
  { type: "tool", callId: "t2", tool: "Edit", title: "cart/total.go", args: { file_path: "cart/total.go", old_string: "func Total(c Cart) Money {\n\tsum := c.Lines[0].Price\n\tfor _, l := range c.Lines[1:] {", new_string: "func Total(c Cart) Money {\n\tvar sum Money\n\tfor _, l := range c.Lines {" }, state: "running" },
  { type: "tool", callId: "t2", state: "done", output: "The file cart/total.go has been updated." },
  { type: "tool", callId: "t3", tool: "apply_patch", title: "Change files", args: { changes: [{ path: "cart/total_test.go", kind: { type: "update" }, diff: "@@ -4,2 +4,6 @@\n func TestTotal(t *testing.T) {\n+\tif got := Total(Cart{}); got != 0 {\n+\t\tt.Errorf(\"an empty cart costs %v\", got)\n+\t}\n \tc := Cart{}\n" }, { path: "cart/doc.go", kind: { type: "add" }, diff: "// Package cart adds prices up.\npackage cart\n" }] }, state: "running" },
  { type: "tool", callId: "t3", state: "done" },
  { type: "tool", callId: "t4", tool: "edit", title: "README.md", state: "running" },
  { type: "tool", callId: "t4", state: "done", output: "--- README.md\n+++ README.md\n-An empty cart panics.\n+An empty cart costs nothing." },
  { type: "text", delta: "An empty cart costs nothing now. I run all tests, and then push." },
  { type: "tool", callId: "t5", tool: "Bash", title: "go test ./...", args: { command: "go test ./..." }, state: "running" },
  { type: "usage", model: "claude", tokens: { input: 4100, cachedInput: 3000, output: 350, reasoning: 0 }, cost: 0.02 },
  { type: "permission", callId: "t6", tool: "Bash", title: "git push", args: { command: "git push origin HEAD:fix-empty-cart" } },
];

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

  await server.at("POST", "/entities", { id: "dozer", kind: "agent", name: "Dozer", description: "sleeps" });

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

  await wakeTests(server, space);

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
  const coding = await coder(server, space);
  return { coding, ended: ended.id, failed: failed.id, waiting: waiting.id, pending: book[1].id };
}

/** One agent that has a wake lease and has answered a wake test, and one that has not answered. */
async function wakeTests(server, space) {
  await space("signals", "Signals", ["scout", "dozer"]);
  await server.at("PUT", "/entities/scout/wake-lease", { via: "claude-hook", ttlMs: 60_000 }, { as: "scout" });
  for (const [agent, answers] of [["scout", true], ["dozer", false]]) {
    const { id: messageId } = await server.says("operator", "signals", `[wake test ${agent}7] Answer with the code.`, { mentions: [agent], triggerAgents: false });
    const answeredBy = answers ? (await server.says(agent, "signals", `${agent}7`)).id : undefined;
    await server.at("PUT", `/entities/${agent}/wake-proof`, { messageId, answeredBy }, { as: "operator" });
  }
}

/** A coding agent on a machine, in the middle of a turn; the id of its run. */
async function coder(server, space) {
  await server.at("PUT", "/agents/coder", { version: "1.0", agent: { name: "Coder", description: "A coding agent on somebody's machine." }, remote: {} });
  await space("cart", "Empty carts", ["coder", "ada"]);
  await server.at("PATCH", "/spaces/cart", { showAgentReasoning: true });
  const report = { version: "1.4.0", kind: "claude-code", dir: "~/src/cart", mode: "ask", respondTo: ["owner", "ada"], approve: ["owner"], maxTurnsPerHour: 30, maxTokensPerDay: 2_000_000, maxCostPerDay: 5 };
  await server.at("PUT", "/runners/ada-mbp/agents/coder", report);
  await server.at("PUT", "/agents/reviewer", { version: "1.0", agent: { name: "Reviewer" }, remote: {} });
  await server.at("PUT", "/runners/ada-mbp/agents/reviewer", { ...report, kind: "codex", mode: "read", worktree: true, maxTokensPerDay: 0, maxCostPerDay: 0, problem: "reviewer failed 5 times within 10 minutes and is not started any more. Its runner has to be restarted." });
  await server.at("PUT", "/runners/lab-4/agents/coder", { ...report, version: "1.3.2", mode: "edit", dir: "/srv/cart", respondTo: ["members"], stopped: true });
  await server.says("ada", "cart", "Total panics for an empty cart. Can you fix it, @coder?", { mentions: ["coder"] });
  const { items: [claimed] } = await server.at("POST", "/agents/coder/claim", { waitMs: 10_000 });
  await server.at("POST", `/runs/${claimed.run.id}/work?generation=${claimed.generation}`, turn.map((line, i) => JSON.stringify({ n: i + 1, ...line })).join("\n"), { type: "application/x-ndjson" });
  return claimed.run.id;
}
