// What people come for: write, watch, answer, approve.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Person } from "./stage/browser.mjs";
import { call, Models, send, used } from "./stage/models.mjs";
import { eventually, go, operator, patience, picture, stage } from "./stage/stage.mjs";

const s = stage();
let models;
before(async () => void (models = await Models.start()));
after(() => models.stop());

const card = {
  name: "showCard", executionType: "basic", execution: { mode: "no-execution" }, displayTool: true, display: { customUI: "Card" },
  inputSchema: { type: "object", properties: { name: { type: "string" }, price: { type: "number" } }, required: ["name"] },
};

/** Writes into the space that is open, and sends. */
async function write(page, text) {
  await page.getByRole("textbox", { name: "Message" }).fill(text);
  await page.keyboard.press("Control+Enter");
}

/** A person with a key of their own, signed in. */
async function member(entityId, more = {}) {
  const { key } = await s.server.call("POST", "/keys", { role: "entity", sessionId: "default", entityId, kind: "human", name: entityId });
  const person = await Person.at(s.browser, more);
  const page = await person.open(s.server.url);
  page.setDefaultTimeout(patience);
  await page.locator("input[type=password]").fill(key);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Approvals" }).waitFor();
  return { person, page, key };
}

test("a composite message is one article: text, card, form, text, in the model's order", async () => {
  const form = {
    name: "askDelivery", executionType: "basic", execution: { mode: "no-execution" }, displayTool: true,
    inputSchema: { type: "object", properties: { question: { type: "string" } } },
    outputSchema: {
      type: "object", required: ["street", "floor", "express"],
      properties: { street: { type: "string", minLength: 3 }, floor: { type: "integer", minimum: 0 }, express: { type: "boolean" }, size: { enum: ["S", "M"] } },
    },
  };
  models.play("composite", [
    { toolCalls: [
      send("atelier", "First, **this one**:"), call("showCard", { targetSpaceId: "atelier", name: "Wren 14", price: 749 }, "card"),
      call("askDelivery", { targetSpaceId: "atelier", question: "Where to?" }, "form"), send("atelier", "Then I can go on."),
    ] },
    { toolCalls: [send("atelier", "It is on its way.")] },
    { content: "Done." },
  ]);
  await s.server.at("PUT", "/agents/atelier-agent", models.agent("Atelier", "composite", { tools: [card, form] }));
  await s.server.at("POST", "/spaces", { id: "atelier", name: "Atelier", members: ["operator", "atelier-agent"] }, { as: "operator" });
  const { person, page } = await operator(s);
  await go(s, page, "/spaces/atelier");
  await write(page, "One of those, please.");
  const article = page.getByRole("article").filter({ hasText: "First, this one" });
  await article.getByText("Then I can go on.").waitFor();
  await article.getByText("Where to?").waitFor(); // seen once it waits
  assert.equal(await page.getByRole("article").count(), 2, "the person's message and one of the agent");
  const words = await article.innerText();
  const order = ["First, this one", "Wren 14", "Where to?", "Then I can go on."].map((w) => words.indexOf(w));
  assert.deepEqual(order, [...order].sort((a, b) => a - b), words);
  assert.ok(order.every((at) => at >= 0), words);

  // A wrong answer is refused on its field, and nothing is settled by it.
  await article.getByLabel(/street/i).fill("ab");
  await article.getByLabel(/floor/i).fill("minus one");
  await article.getByLabel(/express/i).selectOption({ label: "Yes" });
  await article.getByRole("button", { name: /^(Send|Answer|Send answer|Send the answer)$/ }).click();
  await picture(page, "form-sent");
  await eventually("the field is marked", async () => (await article.locator("[aria-invalid]").count()) > 0);
  assert.equal((await s.server.at("GET", "/pending-actions", undefined, { as: "operator" })).items.filter((p) => p.toolName === "askDelivery").length, 1);
  await picture(page, "form-wrong");

  await article.getByLabel(/street/i).fill("Hafenstraße 5");
  await article.getByLabel(/floor/i).fill("2");
  await article.getByRole("button", { name: /^(Send|Answer|Send answer|Send the answer)$/ }).click();
  await article.getByRole("button", { name: /ok|seen|done|acknowledge/i }).first().click(); // the card asks for nothing
  await page.getByText("It is on its way.").waitFor();
  const message = (await s.server.at("GET", "/spaces/atelier/messages")).items[1];
  assert.deepEqual(message.parts.find((p) => p.toolName === "askDelivery").result, { street: "Hafenstraße 5", floor: 2, express: true });
  assert.equal(message.parts.find((p) => p.toolName === "askDelivery").answeredBy, "operator");
  await person.clean();
  await person.close();
});

test("an approval in another space resumes the run; of two simultaneous answers the first counts, and both pages show it", async () => {
  models.play("approval", [
    { toolCalls: [call("order", { targetSpaceId: "finance", amount: 50000 }, "order")] },
    { toolCalls: [send("market", "Approved and ordered.")] },
    { content: "Done." },
  ]);
  const order = {
    name: "order", executionType: "basic", execution: { mode: "pass-through" }, displayTool: true, requiresPermission: true,
    inputSchema: { type: "object", properties: { amount: { type: "number" } } },
  };
  await s.server.at("PUT", "/agents/buyer", models.agent("Buyer", "approval", { tools: [order] }));
  const ada = await member("ada");
  for (const [id, name] of [["market", "Market"], ["finance", "Finance"]]) {
    await s.server.at("POST", "/spaces", { id, name, members: ["operator", "ada", "buyer"] }, { as: "operator" });
  }
  const { person, page } = await operator(s);
  for (const p of [page, ada.page]) await go(s, p, "/spaces/finance");
  await s.server.says("ada", "market", "Buy it.");
  const approve = [page, ada.page].map((p) => p.getByRole("button", { name: "Approve", exact: true }));
  await Promise.all(approve.map((b) => b.waitFor()));
  // Both click at the same moment.
  await Promise.allSettled(approve.map((b) => b.click({ timeout: 5000 })));
  await picture(page, "approved-at-once");
  await eventually("the run has gone on", async () => JSON.stringify(await s.server.at("GET", "/spaces/market/messages")).includes("Approved and ordered."));
  const [part] = (await s.server.at("GET", "/spaces/finance/messages")).items.flatMap((m) => m.parts);
  const first = { operator: "Operator", ada: "ada" }[part.answeredBy];
  for (const p of [page, ada.page]) {
    await p.getByRole("article").filter({ hasText: new RegExp(`(${first}|you).*approved`, "is") }).waitFor();
    const scolded = (await p.getByRole("alert").allInnerTexts()).filter((text) => text !== "" && !/needs you/i.test(text)); // what screen readers announce
    assert.deepEqual(scolded, [], "the later answer gets a notice, not an alert");
  }
  await picture(page, "approved-by");
  for (const one of [person, ada.person]) {
    one.expected.push(/409/);
    await one.clean();
    await one.close();
  }
});

test("a run's tokens are the model's, and its inspector shows what the model saw", async () => {
  models.play("counted", [{ toolCalls: [send("ledger", "Counting.")] }, { content: "Done." }]);
  await s.server.at("PUT", "/agents/counter", models.agent("Counter", "counted", { agent: { system: "You count the cormorants." } }));
  await s.server.at("POST", "/spaces", { id: "ledger", name: "Ledger", members: ["operator", "counter"] }, { as: "operator" });
  await s.server.says("operator", "ledger", "How many?");
  const run = await eventually("the run has ended", async () => (await s.server.at("GET", "/runs?agent=counter&status=completed")).items[0]);
  assert.equal(run.usage.inputTokens, 2 * used.prompt_tokens);
  const { person, page } = await operator(s);
  await go(s, page, "/runs");
  await page.getByRole("link", { name: /counter/i }).first().waitFor();
  await picture(page, "runs");
  await go(s, page, `/runs/${run.id}`);
  await page.getByText(new RegExp(String(2 * used.prompt_tokens))).first().waitFor();
  await picture(page, "run-timeline");
  await page.getByRole("tab", { name: /saw|steps/i }).first().click();
  await picture(page, "run-saw-folded");
  await page.getByText(/system/i).last().click();
  await page.getByText("You count the cormorants.").first().waitFor();
  await picture(page, "run-saw");
  await person.clean();
  await person.close();
});

test("stop ends a run that writes, and what it wrote stays", async () => {
  models.play("endless", [{ toolCalls: [send("stream", "and on ".repeat(500))] }], 20);
  await s.server.at("PUT", "/agents/talker", models.agent("Talker", "endless"));
  await s.server.at("POST", "/spaces", { id: "stream", name: "Stream", members: ["operator", "talker"] }, { as: "operator" });
  const { person, page } = await operator(s);
  await go(s, page, "/spaces/stream");
  await write(page, "Talk.");
  const article = page.getByRole("article").filter({ hasText: "and on and on" });
  await article.getByRole("button", { name: /stop/i }).click();
  await eventually("the run is canceled", async () => (await s.server.at("GET", "/runs?agent=talker")).items[0].status === "canceled");
  await article.getByText(/interrupted/i).first().waitFor();
  await article.getByText(/canceled/i).first().waitFor();
  assert.ok((await article.innerText()).includes("and on and on"));
  await picture(page, "stopped");
  await person.clean();
  await person.close();
});

test("@ opens the members by keyboard, and the message wakes the mentioned agent", async () => {
  await s.server.at("POST", "/entities", { id: "scout", kind: "agent", name: "Scout" });
  await s.server.at("POST", "/spaces", { id: "camp", name: "Camp", members: ["operator", "scout", "shop-agent"] }, { as: "operator" });
  const { key } = await s.server.call("POST", "/keys", { role: "entity", sessionId: "default", entityId: "scout", name: "scout" });
  const wait = s.server.at("POST", "/entities/scout/wait", { kind: "mentions", timeoutMs: 20_000 }, { key });
  const { person, page } = await operator(s);
  await go(s, page, "/spaces/camp");
  await page.getByText(/waiting for a mention/i).first().waitFor();
  const field = page.getByRole("textbox", { name: "Message" });
  await field.click();
  await page.keyboard.type("Hello @sco");
  await page.getByRole("option", { name: /scout/i }).waitFor();
  await picture(page, "mention-menu");
  await page.keyboard.press("Enter");
  await page.keyboard.type("who are you?");
  await page.keyboard.press("Control+Enter");
  const { items } = await wait;
  assert.deepEqual(items[0].messages[0].mentions, ["scout"]);
  assert.equal(await field.inputValue(), "");
  await person.clean();
  await person.close();
});

test("try-it runs a draft with the real runtime and cleans up", async () => {
  models.mock.addFixture({ match: { predicate: (r) => r.model === "tryout" && r.messages.at(-1).role === "tool" }, response: () => ({ content: "Done.", usage: used }) });
  models.mock.addFixture({
    match: { predicate: (r) => r.model === "tryout" },
    response: (r) => ({ usage: used, toolCalls: [send(JSON.stringify(r.messages).match(/spaceId=..(try-[a-z0-9]+)/)?.[1] ?? "none", `The draft says: ${JSON.stringify(r.messages).includes("cormorant") ? "cormorants" : "nothing"}.`)] }),
  });
  await s.server.at("PUT", "/agents/novice", models.agent("Novice", "tryout"));
  const { person, page } = await operator(s);
  await go(s, page, "/agents/novice");
  await page.getByLabel(/system/i).first().fill("You count every cormorant.");
  await page.getByRole("button", { name: /try/i }).first().click();
  await page.getByRole("button", { name: "Start the trial" }).click();
  const field = page.getByRole("textbox", { name: /message|write|say/i }).last();
  await field.fill("Well?");
  await page.keyboard.press("Control+Enter");
  await page.getByText("The draft says: cormorants.").waitFor();
  await picture(page, "try-it");
  assert.equal((await s.server.at("GET", "/agents/novice")).config.agent.system, "You are Novice.", "the draft is not saved");
  await page.getByRole("button", { name: /clean up/i }).first().click();
  await eventually("the scratch agent is gone", async () => (await s.server.at("GET", "/agents")).items.every((a) => !a.id.startsWith("try-")));
  await person.clean();
  await person.close();
});
