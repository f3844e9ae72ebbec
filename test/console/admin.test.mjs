// What an operator does beside talking: connects agents, minds keys, finds what was
// said, opens sessions, changes and plans what agents do, signs in and out.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Agent } from "./stage/agent.mjs";
import { Person } from "./stage/browser.mjs";
import { Models, send } from "./stage/models.mjs";
import { eventually, go, operator, patience, picture, stage } from "./stage/stage.mjs";

const s = stage();
let models;
const agents = [];
before(async () => void (models = await Models.start()));
after(async () => {
  await Promise.all(agents.map((a) => a.stop()));
  await models?.stop();
});

/** What a box to copy holds. */
const copyable = (page, name) => page.locator(`pre[aria-label=${JSON.stringify(name)}]`).innerText();

/** What a key is worth. */
const statusWith = async (key) => (await fetch(`${s.server.url}/v1/me`, { headers: { Authorization: `Bearer ${key}` } })).status;

test("the program that the page prints connects, is woken by the page, and is cut off when its key is revoked", async () => {
  const { person, page } = await operator(s);
  await go(s, page, "/connect");
  await page.getByRole("radio", { name: /Claude Code/ }).check();
  const { shoal } = JSON.parse(await copyable(page, ".mcp.json")).mcpServers;
  assert.deepEqual(shoal, { type: "http", url: `${s.server.url}/mcp`, headers: { Authorization: "Bearer ${SHOAL_AGENT_KEY}" } });
  await page.getByRole("radio", { name: /TypeScript/ }).check();
  await page.getByLabel("Id", { exact: true }).fill("no spaces!");
  await page.getByRole("button", { name: "Create key" }).click();
  await page.getByText(/Only letters, digits/).waitFor();
  await page.getByLabel("Id", { exact: true }).fill("pilot");
  await page.getByRole("checkbox", { name: "Welcome" }).check();
  await page.getByRole("button", { name: "Create key" }).click();
  const key = await copyable(page, "SHOAL_AGENT_KEY");
  const program = await copyable(page, "agent.mjs");
  assert.ok(program.includes('"pilot"') && !program.includes(key), program);
  const light = page.getByRole("region", { name: /Check the connection/ }).getByRole("status").first();
  await light.getByText(/waiting for the first call/).waitFor();
  await picture(page, "connect-key-created");

  const pilot = Agent.run(program, key);
  agents.push(pilot);
  await light.getByText(/connected, waiting for a mention/).waitFor();
  await picture(page, "connect-waiting");
  await page.getByLabel("Message").fill("Ahoy, pilot!");
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await page.getByRole("link", { name: /Open the space/ }).click();
  await page.getByRole("article").filter({ hasText: "pilot" }).getByText("I am here.").waitFor();

  await go(s, page, "/settings?tab=keys");
  await eventually("it waits again", async () => (await s.server.at("GET", "/entities/pilot")).state === "waiting");
  assert.equal(await statusWith(key), 200);
  const row = page.getByRole("listitem").filter({ hasText: "acts as pilot" });
  const revoked = Date.now();
  await row.getByRole("button", { name: /Revoke/ }).click();
  await page.getByRole("button", { name: "Revoke", exact: true }).click();
  await row.waitFor({ state: "detached" });
  assert.equal(await pilot.ended, 1);
  assert.ok(Date.now() - revoked < 15_000, "its wait has ended long before its time");
  assert.match(pilot.said, /unauthenticated: This key was revoked/);
  assert.equal(await statusWith(key), 401);
  const again = Agent.run(program, key);
  agents.push(again);
  assert.equal(await again.ended, 1);
  assert.match(again.said, /code: 401/);
  await person.clean();
  await person.close();
});

test("a key is created in the page, shown once, works, and is revoked", async () => {
  const { person, page } = await operator(s);
  await go(s, page, "/settings?tab=keys");
  await page.getByRole("button", { name: "Create a key" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill("till");
  await dialog.getByLabel("Role", { exact: true }).selectOption({ label: "participant" });
  await dialog.getByRole("button", { name: "Create", exact: true }).click();
  await picture(page, "key-without-entity");
  await dialog.getByLabel("Participant", { exact: true }).fill("bad id!");
  await dialog.getByRole("button", { name: "Create", exact: true }).click();
  await eventually("the field is marked", () => dialog.locator("[aria-invalid=true]").count());
  await dialog.getByLabel("Participant", { exact: true }).fill("nora");
  await dialog.getByLabel("Kind").selectOption({ label: "person" });
  await dialog.getByRole("button", { name: "Create", exact: true }).click();
  await page.getByRole("heading", { name: "Copy the key now" }).waitFor();
  const key = await copyable(page, "till");
  await page.getByRole("button", { name: "Done" }).click();
  const row = page.getByRole("listitem").filter({ hasText: "till" });
  await row.getByText("acts as nora in default").waitFor();
  assert.ok(!(await page.content()).includes(key), "it is shown once");
  const me = await s.server.call("GET", "/me", undefined, { key });
  assert.deepEqual([me.role, me.entityId], ["entity", "nora"]);
  assert.equal((await s.server.at("GET", "/entities/nora")).kind, "human");
  await row.getByRole("button", { name: "Revoke till" }).click();
  await page.getByRole("button", { name: "Cancel" }).click();
  assert.equal(await statusWith(key), 200);
  await row.getByRole("button", { name: "Revoke till" }).click();
  await page.getByRole("button", { name: "Revoke", exact: true }).click();
  await row.waitFor({ state: "detached" });
  assert.equal(await statusWith(key), 401);
  await person.clean();
  await person.close();
});

test("a limited key does no more, and is replaced while the old one works on", async () => {
  const { person, page } = await operator(s);
  await go(s, page, "/settings?tab=keys");
  await page.getByRole("button", { name: "Create a key" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill("reader");
  await dialog.getByLabel("Participant", { exact: true }).fill("reader");
  await dialog.getByLabel("Do everything that its role allows").uncheck();
  await dialog.getByLabel(/^Post, edit/).uncheck();
  await dialog.getByLabel(/^Read the spaces/).uncheck();
  await dialog.getByRole("button", { name: "Create", exact: true }).click();
  await dialog.getByRole("alert").getByText("Choose at least one thing").waitFor();
  await dialog.getByLabel(/^Read the spaces/).check();
  await dialog.getByLabel("In all spaces").uncheck();
  await dialog.getByRole("checkbox", { name: "Welcome" }).check();
  await dialog.getByLabel("Renew it while it is used").check();
  await dialog.getByRole("button", { name: "Create", exact: true }).click();
  const key = await copyable(page, "reader");
  await page.getByRole("button", { name: "Done" }).click();
  const row = page.getByRole("listitem").filter({ hasText: "acts as reader" }).filter({ has: page.getByRole("button", { name: "Replace reader" }) });
  await row.getByText("may only read · only in welcome").waitFor();
  await row.getByText(/renewed while it is used/).waitFor();
  assert.deepEqual((await s.server.call("GET", "/me", undefined, { key })).scopes, ["read", "spaces:welcome"]);

  await row.getByRole("button", { name: "Replace reader" }).click();
  await dialog.getByLabel("The old key").selectOption({ label: "works for 7 more days" });
  await dialog.getByRole("button", { name: "Replace", exact: true }).click();
  const next = await copyable(page, "reader");
  await page.getByRole("button", { name: "Done" }).click();
  await page.getByText("replaced", { exact: true }).waitFor();
  await picture(page, "key-replaced");
  const both = await Promise.all([key, next].map((k) => s.server.call("GET", "/me", undefined, { key: k })));
  assert.deepEqual(both.map((m) => m.scopes), [["read", "spaces:welcome"], ["read", "spaces:welcome"]]);
  assert.notEqual(both[0].keyId, both[1].keyId);
  await person.clean();
  await person.close();
});

test("search marks the words, and leads to the message in its space", async () => {
  await s.server.at("POST", "/spaces", { id: "log", name: "Log", members: ["operator"] }, { as: "operator" });
  await s.server.says("operator", "log", "The cormorant <b>dives</b> at dawn.");
  for (let i = 0; i < 80; i++) await s.server.says("operator", "log", `Entry ${i}: nothing to see.`);
  const { person, page } = await operator(s);
  await go(s, page, "/search");
  await page.getByRole("searchbox", { name: "Search for" }).fill("dawn cormor");
  const hit = page.getByRole("link").filter({ hasText: "The cormorant" });
  await hit.waitFor();
  assert.deepEqual(await hit.locator("mark").allInnerTexts(), ["cormor", "dawn"]);
  assert.match(await hit.innerText(), /<b>dives<\/b>/);
  await picture(page, "search-hit");
  await hit.click();
  const article = page.getByRole("article").filter({ hasText: "The cormorant" });
  await article.waitFor();
  await eventually("it has the focus and is in sight", () => article.evaluate((e) => e === document.activeElement && e.getBoundingClientRect().top >= 0 && e.getBoundingClientRect().bottom <= innerHeight));
  const shadow = (of) => of.evaluate((e) => getComputedStyle(e).boxShadow);
  assert.notEqual(await shadow(article), await shadow(page.getByRole("article").filter({ hasText: "Entry 0:" })), "it is marked");
  await picture(page, "search-jumped");
  await person.clean();
  await person.close();
});

test("another session shows none of this session's data", async () => {
  const { person, page } = await operator(s);
  await go(s, page, "/sessions");
  await page.getByRole("button", { name: "New session" }).click();
  await page.getByRole("dialog").getByLabel("Name").fill("Night shift");
  await page.getByRole("dialog").getByLabel("Id", { exact: true }).fill("night");
  await page.getByRole("dialog").getByRole("button", { name: "Create" }).click();
  await page.getByRole("heading", { name: "Night shift" }).waitFor();
  await page.getByRole("button", { name: "Open" }).click();
  await eventually("it is open", () => page.url().includes("/s/night/spaces"));
  const nav = page.getByRole("navigation", { name: "Main" });
  await nav.getByRole("link", { name: "Runs" }).waitFor();
  await picture(page, "session-night");
  assert.equal(await nav.getByRole("link", { name: /Welcome/ }).count(), 0, "nothing of the other session");
  await s.server.call("POST", "/sessions/night/entities", { id: "owl", kind: "human", name: "Owl" });
  await s.server.call("POST", "/sessions/night/spaces", { id: "watch", name: "Watch", members: ["owl"] }, { as: "owl" });
  await page.goto(`${s.server.url}/s/night/spaces/watch`);
  await page.getByRole("heading", { name: "Watch", level: 1 }).waitFor();
  await go(s, page, "/spaces/watch");
  await page.getByRole("heading", { name: "Space not found" }).waitFor();
  await person.clean();
  await person.close();
});

test("a config with a mistake is refused at its field and tab; saved right it is version 2, and can be taken back", async () => {
  models.play("cook", [{ toolCalls: [send("galley", "Aye.")] }, { content: "Done." }]);
  await s.server.at("PUT", "/agents/cook", models.agent("Cook", "cook"));
  const { person, page } = await operator(s);
  await go(s, page, "/agents/cook");
  await page.getByLabel(/System prompt/).fill("You cook fish.");
  await page.getByRole("tab", { name: /Limits/ }).click();
  await page.getByLabel("Max steps").fill("20000");
  await page.getByRole("tab", { name: /Instructions/ }).click();
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Save version 2" }).click();
  await page.getByRole("tab", { name: /Limits.*1/, selected: true }).waitFor();
  const field = page.getByLabel("Max steps");
  assert.equal(await field.getAttribute("aria-invalid"), "true");
  await picture(page, "agent-refused");
  assert.equal((await s.server.at("GET", "/agents/cook")).version, 1);

  await field.fill("7");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  const diff = page.getByRole("dialog").getByRole("table", { name: "Changes" }).or(page.getByRole("dialog").getByLabel("Changes"));
  await diff.getByText("You cook fish.").waitFor();
  await picture(page, "agent-diff");
  await page.getByRole("dialog").getByRole("button", { name: "Save version 2" }).click();
  await page.getByText("Version 2 is in use.").waitFor();
  const saved = await s.server.at("GET", "/agents/cook");
  assert.deepEqual([saved.version, saved.config.agent.system, saved.config.loop.maxSteps], [2, "You cook fish.", 7]);

  await page.getByRole("tab", { name: "Versions" }).click();
  await page.getByLabel(/Changes from version 1 to version 2/).getByText("You cook fish.").waitFor();
  await page.getByRole("button", { name: /Restore version 1/ }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Save version 3" }).click();
  await page.getByRole("listitem").filter({ hasText: "Version 3" }).getByText("in use").waitFor();
  const restored = await s.server.at("GET", "/agents/cook");
  assert.deepEqual([restored.version, restored.config.agent.system, restored.config.loop.maxSteps], [3, "You are Cook.", 5]);
  await person.clean();
  await person.close();
});

test("a plan made in the page runs at its time, and its run is shown", async () => {
  models.play("bell", [{ toolCalls: [send("deck", "Two bells.")] }, { content: "Done." }]);
  await s.server.at("PUT", "/agents/bell", models.agent("Bell", "bell"));
  await s.server.at("POST", "/spaces", { id: "deck", name: "Deck", members: ["operator", "bell"] }, { as: "operator" });
  const { person, page } = await operator(s);
  await go(s, page, "/plans");
  await page.getByRole("button", { name: "New plan" }).first().click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Create plan" }).click();
  await eventually("the name is asked for", () => dialog.getByLabel("Name (required)").getAttribute("aria-invalid"));
  await dialog.getByLabel("Agent").selectOption("bell");
  await dialog.getByLabel("Name (required)").fill("two bells");
  await dialog.getByLabel("Instruction").fill("Ring the bell in the space deck.");
  await dialog.getByRole("radio", { name: "Once" }).check();
  await dialog.getByLabel("Time zone").fill("Asia/Kolkata");
  // On the clocks of that zone, which is five and a half hours ahead.
  const at = Date.now() + 4000;
  await dialog.getByLabel("Day and time").fill(new Date(at + 5.5 * 3_600_000).toISOString().slice(0, 19));
  await dialog.getByRole("button", { name: "Create plan" }).click();
  await dialog.waitFor({ state: "detached" });
  const row = page.getByRole("listitem").filter({ hasText: "two bells" });
  await row.getByText(/^Once: /).waitFor();
  const run = await eventually("it has run", async () => (await s.server.at("GET", "/runs?agent=bell&status=completed")).items[0]);
  assert.equal(run.trigger.type, "plan");
  assert.ok(Date.parse(run.createdAt) >= at - 1000, `at ${run.createdAt}, planned for ${new Date(at).toISOString()}`);
  await row.getByText("over").waitFor();
  await picture(page, "plan-ran");
  await row.getByRole("link").filter({ has: page.locator("time") }).click();
  await page.getByRole("heading", { level: 1 }).filter({ hasText: /Bell|run/i }).waitFor();
  await page.getByText("two bells").first().waitFor();
  await picture(page, "plan-run");
  await go(s, page, "/spaces/deck");
  await page.getByRole("article").getByText("Two bells.").waitFor();
  await person.clean();
  await person.close();
});

test("a link signs another browser in; signing out ends the key, there and nowhere else", async () => {
  const { person, page } = await operator(s);
  await go(s, page, "/settings?tab=browser");
  await page.getByRole("button", { name: "Create link" }).click();
  await page.locator('pre[aria-label="works once"]').waitFor();
  const link = await copyable(page, "works once");
  await picture(page, "another-device");
  const other = await Person.at(s.browser, { width: "phone" });
  const there = await other.open(link);
  there.setDefaultTimeout(patience);
  await there.getByRole("link", { name: "All spaces" }).waitFor(); // a first visit on a phone begins in a space
  const cookie = async (who) => (await who.context.cookies()).find((c) => c.name.startsWith("shoal"));
  const [mine, theirs] = [await cookie(person), await cookie(other)];
  assert.notEqual(mine.value, theirs.value, "each has a key of its own");
  await go(s, there, "/settings?tab=browser");
  await there.getByRole("button", { name: "Sign out", exact: true }).click();
  await there.getByRole("heading", { name: "Sign in to Shoal" }).waitFor();
  assert.equal(await cookie(other), undefined);
  assert.deepEqual([await statusWith(decodeURIComponent(theirs.value)), await statusWith(decodeURIComponent(mine.value))], [401, 401], "programs cannot use a cookie as a key");
  await page.reload();
  await page.getByRole("link", { name: /welcome/i }).first().waitFor();
  await there.goto(link);
  await there.getByRole("alert").waitFor();
  await go(s, page, "/settings?tab=browser");
  await page.getByRole("main").getByText("this browser", { exact: true }).waitFor();
  await other.clean();
  await other.close();
  await person.clean();
  await person.close();
});
