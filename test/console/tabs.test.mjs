// Many tabs of one browser share one stream; two browsers agree about what is unread.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Person } from "./stage/browser.mjs";
import { Cutter } from "./stage/cutter.mjs";
import { Models, send } from "./stage/models.mjs";
import { eventually, go, operator, patience, stage } from "./stage/stage.mjs";

Person.serviceWorkers = "allow";
const s = stage();
let models;
before(async () => void (models = await Models.start()));
after(() => models?.stop());

const isStream = (req) => /\/events(\?|$)/.test(req.url);

/** A proxy that knows which streams are open through it, those of workers too. */
async function counted(t) {
  const streams = new Set();
  const proxy = await Cutter.before(s.server.url, (req) => {
    if (!isStream(req) || streams.has(req.socket)) return undefined;
    streams.add(req.socket);
    req.socket.once("close", () => streams.delete(req.socket));
    return undefined;
  });
  t.after(() => proxy.stop());
  return { proxy, streams };
}

const unread = (page, space) => page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: new RegExp(`^#? ?${space}`) });

test("ten tabs all receive over one stream, and nothing waits for them", async (t) => {
  const { proxy, streams } = await counted(t);
  const person = await Person.at(s.browser);
  const first = await person.open((await s.server.newLink()).replace(s.server.url, proxy.url));
  first.setDefaultTimeout(patience);
  await first.getByRole("link", { name: /welcome/i }).first().waitFor();
  await s.server.at("POST", "/spaces", { id: "crowd", name: "Crowd", members: ["operator"] }, { as: "operator" });
  const tabs = [first];
  while (tabs.length < 10) tabs.push(await person.context.newPage());
  const open = (page) => page.goto(`${proxy.url}/s/default/spaces/crowd`);
  await Promise.all(tabs.map(open));
  for (const page of tabs) await page.getByRole("textbox", { name: "Message" }).waitFor();
  await s.server.says("operator", "crowd", "Does everybody hear me?");
  for (const page of tabs) await page.getByRole("article").getByText("Does everybody hear me?").waitFor();
  assert.equal(streams.size, 1, "one stream for ten tabs");
  const ms = await tabs[9].evaluate(async () => {
    const begun = performance.now();
    const answer = await fetch("/healthz");
    await answer.text();
    return answer.ok ? performance.now() - begun : Infinity;
  });
  t.diagnostic(`a call beside ten tabs took ${Math.round(ms)} ms`);
  assert.ok(ms < 2000, `${ms} ms`);

  // The first one, which has begun the stream, goes as well.
  for (const page of tabs.slice(0, 9)) await page.close();
  await s.server.says("operator", "crowd", "And now?");
  await tabs[9].getByRole("article").getByText("And now?").waitFor();
  assert.equal(streams.size, 1);
  await tabs[9].close();
  await eventually("nobody listens any more", () => streams.size === 0);
  await person.close();
});

test("a browser without shared workers follows with one stream for each tab", async (t) => {
  const { proxy, streams } = await counted(t);
  const person = await Person.at(s.browser);
  await person.context.addInitScript(() => delete globalThis.SharedWorker);
  const first = await person.open((await s.server.newLink()).replace(s.server.url, proxy.url));
  await first.getByRole("link", { name: /welcome/i }).first().waitFor();
  assert.equal(await first.evaluate(() => typeof SharedWorker), "undefined");
  await s.server.at("POST", "/spaces", { id: "few", name: "Few", members: ["operator"] }, { as: "operator" });
  const tabs = [first, await person.context.newPage()];
  for (const page of tabs) {
    page.setDefaultTimeout(patience);
    await page.goto(`${proxy.url}/s/default/spaces/few`);
    await page.getByRole("textbox", { name: "Message" }).waitFor();
  }
  await s.server.says("operator", "few", "Does each hear me?");
  for (const page of tabs) await page.getByRole("article").getByText("Does each hear me?").waitFor();
  await eventually("each tab has its stream", () => streams.size === 2);
  await first.close();
  await eventually("a closed tab ends its stream", () => streams.size === 1);
  await s.server.says("operator", "few", "And now?");
  await tabs[1].getByRole("article").getByText("And now?").waitFor();
  await person.close();
});

test("deltas do not count as unread, a complete message counts once; read in one browser is read in the other", async () => {
  models.play("drip", [{ toolCalls: [send("creek", "drop by drop ".repeat(60))] }, { content: "Done." }], 15);
  await s.server.at("PUT", "/agents/dripper", models.agent("Dripper", "drip"));
  await s.server.at("POST", "/spaces", { id: "creek", name: "Creek", members: ["operator", "dripper"] }, { as: "operator" });
  await s.server.at("POST", "/entities", { id: "bea", kind: "human", name: "Bea" });
  await s.server.at("PUT", "/spaces/creek/members/bea");
  const one = await operator(s);
  const two = await operator(s);
  for (const { page } of [one, two]) await go(s, page, "/spaces/welcome");
  const counts = ({ page }) => unread(page, "Creek").innerText();
  const space = async () => (await s.server.at("GET", "/spaces/creek", undefined, { as: "operator" })).unreadCount;
  await unread(one.page, "Creek").waitFor();
  assert.doesNotMatch(await counts(one), /\d/);

  const before = await space();
  await s.server.says("bea", "creek", "Drip, please.");
  const at = async (n) => {
    for (const who of [one, two]) await eventually(`${n} unread is shown`, async () => new RegExp(`\\b${n}\\b`).test(await counts(who)));
  };
  await at(before + 1);
  // While it is being written every look finds the same count, in both browsers.
  const seen = new Set();
  await eventually("the agent has written it", async () => {
    for (const who of [one, two]) seen.add((await counts(who)).match(/\d+/)?.[0]);
    return (await s.server.at("GET", "/spaces/creek/messages")).items.some((m) => m.entityId === "dripper" && m.status === "completed");
  });
  assert.ok(seen.size <= 2 && [...seen].every((n) => n === String(before + 1) || n === String(before + 2)), [...seen].join());
  const after = await space();
  assert.equal(after, before + 2, "the whole message is one");
  await at(after);

  // Reading it here updates the other browser when its page is shown again.
  await unread(one.page, "Creek").click();
  await eventually("it is read", async () => (await space()) === 0);
  await eventually("here nothing is unread", async () => !/\d/.test(await counts(one)));
  await two.page.evaluate(() => window.dispatchEvent(new Event("focus")));
  await eventually("in the other browser neither", async () => !/\d/.test(await counts(two)));
  for (const { person } of [one, two]) {
    await person.clean();
    await person.close();
  }
});

test("the title of a tab shows the unread counts, also while it is hidden", async () => {
  const { person, page } = await operator(s);
  await go(s, page, "/settings");
  await eventually("the title names the page", async () => (await page.title()) === "Settings · Shoal");
  const other = await person.context.newPage();
  await other.goto("about:blank");
  await other.bringToFront();
  await s.server.at("POST", "/spaces", { id: "call", name: "Call", members: ["operator"] }, { as: "operator" });
  await s.server.at("POST", "/entities", { id: "cleo", kind: "human", name: "Cleo" });
  await s.server.at("PUT", "/spaces/call/members/cleo");
  await s.server.says("cleo", "call", "Are you there?", { mentions: ["operator"], triggerAgents: false });
  await eventually("the title counts the mention", async () => (await page.title()) === "(1) Settings · Shoal");
  await s.server.says("operator", "welcome", "I need a laptop");
  await eventually("and what waits for an answer", async () => (await page.title()) === "(3) Settings · Shoal");
  await person.clean();
  await person.close();
});
