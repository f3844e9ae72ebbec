// Cuts, kills and reloads in the middle of a word: the page heals by itself, and
// what it shows is what is stored.
import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { Cutter } from "./stage/cutter.mjs";
import { Person } from "./stage/browser.mjs";
import { call, Models, send } from "./stage/models.mjs";
import { eventually, go, operator, patience, picture, stage } from "./stage/stage.mjs";

Person.serviceWorkers = "allow";
const s = stage();
let models;
before(async () => void (models = await Models.start()));
after(() => models.stop());

// Words that a page shows as they are, with characters of one to three bytes in UTF-8;
// aimock would cut one of four in two.
const saga = Array.from({ length: 40 }, (_, i) => `Lied ${i + 1}: Der Seebär ☂ rief »Ahoi« über die Reling, 長い間, und größer als zuvor.`).join(" ");

const choose = {
  name: "choose", executionType: "basic", execution: { mode: "no-execution" }, displayTool: true, display: { customUI: "Choice" },
  inputSchema: { type: "object", properties: { of: { type: "string" } } }, outputSchema: { type: "object", required: ["sure"], properties: { sure: { type: "boolean" } } },
};

let n = 0;
/** A new space with an agent that writes the saga, then asks, then ends. */
async function den() {
  const id = `den${++n}`;
  models.play(id, [
    { toolCalls: [send(id, saga), call("choose", { targetSpaceId: id, of: "endings" }, "choose")] },
    { toolCalls: [send(id, "The end.")] },
    { content: "Done." },
  ], 8);
  await s.server.at("PUT", `/agents/${id}-teller`, models.agent("Teller", id, { tools: [choose] }));
  await s.server.at("POST", "/spaces", { id, name: `Den ${n}`, members: ["operator", `${id}-teller`] }, { as: "operator" });
  return id;
}

/** The text of the agent's message as it is stored. */
const stored = async (id) => (await s.server.at("GET", `/spaces/${id}/messages`)).items.find((m) => m.runId)?.parts.filter((p) => p.type === "text") ?? [];

/** Waits until the page shows the whole saga, and compares every letter. */
async function whole(page, id) {
  const article = page.getByRole("article").filter({ hasText: "Lied 1: Der" });
  await article.getByText("Lied 40: Der").waitFor({ timeout: 2 * patience });
  await eventually("the text is stored whole", async () => (await stored(id))[0]?.status === "done");
  const differs = async () => {
    const text = (await article.innerText()).replace(/\s+/g, " ");
    const from = text.indexOf("Lied 1:");
    const at = [...saga].findIndex((c, i) => text[from + i] !== c);
    return at < 0 ? "" : `at ${at}: ${JSON.stringify(text.slice(from + at - 20, from + at + 40))}`;
  };
  let last;
  await eventually("the page shows what is stored", async () => (last = await differs()) === "").catch(() => assert.fail(`the page differs from what is stored ${last}`));
  assert.equal((await stored(id))[0].text, saga);
  return article;
}

const begun = (page) => page.getByRole("article").filter({ hasText: "Lied 3: Der" }).waitFor();

test("a reload in the middle of a word continues the text, and a reload at a question shows it again", async () => {
  const id = await den();
  const { person, page } = await operator(s);
  await go(s, page, `/spaces/${id}`);
  await s.server.says("operator", id, "Begin.");
  await begun(page);
  await page.reload();
  const article = await whole(page, id);
  await article.getByRole("button", { name: /yes/i }).waitFor();
  await page.reload();
  await page.getByRole("button", { name: /sure: yes|^yes/i }).first().click();
  await page.getByText("The end.").waitFor();
  await person.clean();
  await person.close();
});

test("killed in the middle of a sentence and started again: the page heals by itself and the text is right", async (t) => {
  const id = await den();
  const { person, page } = await operator(s);
  await go(s, page, `/spaces/${id}`);
  await s.server.says("operator", id, "Begin.");
  await begun(page);
  await s.server.kill();
  await page.getByText(/server unreachable/i).waitFor();
  await picture(page, "offline");
  const down = Date.now();
  await s.server.begin();
  await page.getByText(/server unreachable/i).waitFor({ state: "detached" });
  t.diagnostic(`live again ${Date.now() - down} ms after the server was started`);
  const article = await whole(page, id);
  await article.getByRole("button", { name: /yes/i }).first().click();
  await page.getByText("The end.").waitFor();
  assert.equal(await page.getByRole("article").count(), 2, "one message of the person, one of the run");
  await person.clean();
  await person.close();
});

test("while the server is unreachable, approvals are disabled; messages are queued and sent once", async () => {
  const id = await den();
  const { person, page } = await operator(s);
  await go(s, page, `/spaces/${id}`);
  await s.server.says("operator", id, "Begin.");
  const article = await whole(page, id);
  const yes = article.getByRole("button", { name: /yes/i }).first();
  await yes.waitFor();
  assert.equal(await yes.isEnabled(), true);
  await s.server.kill();
  await eventually("the button is off", () => yes.isDisabled());
  await page.getByRole("textbox", { name: "Message" }).fill("Are you there?");
  await page.keyboard.press("Control+Enter");
  await page.getByText("Are you there?").waitFor();
  await picture(page, "offline-queue");
  await s.server.begin();
  await eventually("it is sent", async () => (await s.server.at("GET", `/spaces/${id}/messages`)).items.some((m) => m.parts[0]?.text === "Are you there?"));
  await eventually("the button works again", () => yes.isEnabled());
  const { items } = await s.server.at("GET", `/spaces/${id}/messages`);
  assert.equal(items.filter((m) => m.parts[0]?.text === "Are you there?").length, 1);
  await eventually("it is shown once", async () => (await page.getByText("Are you there?").count()) === 1);
  await person.clean();
  await person.close();
});

/** A person who connects through a proxy. */
async function through(cutter, path) {
  const person = await Person.at(s.browser);
  const link = new URL(await s.server.newLink());
  const page = await person.open(`${cutter.url}/${link.hash}`);
  page.setDefaultTimeout(patience);
  await page.getByRole("navigation", { name: "Main" }).waitFor();
  await page.goto(`${cutter.url}/s/default${path}`);
  return { person, page };
}

const isStream = (req) => /\/events(\?|$)/.test(req.url);
let cutter;
afterEach(async () => {
  await cutter?.stop();
  cutter = undefined;
});

test("a part of the page that cannot be loaded is missing alone, and comes when the reader tries again", async () => {
  // A service worker would have kept the parts.
  const { person, page } = await operator(s, { serviceWorkers: "block" });
  person.expected.push(/Failed to fetch dynamically imported module: .*\/(panel|row-menu|new-space)-/);
  const parts = /\/assets\/(panel|row-menu|new-space)-[^/]*\.js$/;
  const refused = new Set();
  await page.route(parts, (route) => {
    refused.add(parts.exec(route.request().url())[1]);
    return route.abort();
  });
  await go(s, page, "/spaces/welcome");
  const aside = page.getByRole("complementary", { name: "About this space" });
  await aside.getByText("Server unreachable.").waitFor();
  await eventually("both were asked for", () => refused.size === 2);
  const field = page.getByRole("textbox", { name: "Message" });
  await field.fill("Still here");
  await page.getByRole("button", { name: "New space" }).click();
  const dialog = page.getByRole("dialog", { name: "This could not be opened" });
  await dialog.getByText("Server unreachable.").waitFor();
  await picture(page, "resume-dialog-missing");
  await dialog.getByRole("button", { name: "Close" }).click();
  assert.equal(await field.inputValue(), "Still here");
  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Welcome" }).waitFor();
  await picture(page, "resume-part-missing");
  await page.unroute(parts);
  await aside.getByRole("button", { name: "Try again" }).click();
  await aside.getByRole("tab", { name: /^Members/ }).waitFor();
  await page.getByRole("button", { name: "New space" }).click();
  await page.getByRole("dialog", { name: "New space" }).waitFor();
  await person.clean();
  await person.close();
});

test("cut again and again in the middle of a frame: every letter is there, once", async (t) => {
  const id = await den();
  // Each connection lives for a few kilobytes, and ends in half a chunk.
  cutter = await Cutter.before(s.server.url, (req, chunk, sent) => (isStream(req) && sent > 12_000 ? "cut" : undefined));
  const { person, page } = await through(cutter, `/spaces/${id}`);
  await s.server.says("operator", id, "Begin.");
  await whole(page, id);
  t.diagnostic(`${cutter.cuts} cuts`);
  assert.ok(cutter.cuts >= 5, `only ${cutter.cuts} cuts`);
  await person.close();
});

test("a lost delta is detected, and the text is loaded again", async (t) => {
  const id = await den();
  let lost = 0;
  cutter = await Cutter.before(s.server.url, (req, chunk) => {
    if (!isStream(req) || lost >= 3 || !/^id: .*\nevent: text-delta/.test(chunk.toString()) || Math.random() > 0.1) return undefined;
    lost++;
    chunk.fill(":"); // the frames become a comment: ids and deltas are gone
    chunk[chunk.length - 1] = chunk[chunk.length - 2] = 10;
    return undefined;
  });
  const { person, page } = await through(cutter, `/spaces/${id}`);
  await s.server.says("operator", id, "Begin.");
  await whole(page, id);
  t.diagnostic(`${lost} pieces were lost`);
  assert.ok(lost > 0);
  await person.close();
});
