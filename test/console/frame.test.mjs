// Custom renderers: pages that somebody has uploaded, in a frame that can run its
// script and nothing else. Its messages are requests; the reader's answer is given by
// the console's own button.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { call, Models, send } from "./stage/models.mjs";
import { eventually, go, operator, picture, stage } from "./stage/stage.mjs";

const s = stage();
let models, canary;
before(async () => {
  models = await Models.start();
  canary = await Canary.start();
});
after(async () => {
  await models?.stop();
  await canary?.stop();
});

/** A server that nothing may ever reach. */
class Canary {
  static async start() {
    const c = new Canary();
    c.hits = [];
    c.server = createServer((req, res) => {
      c.hits.push(`${req.method} ${req.url}`);
      res.end("reached");
    });
    await new Promise((resolve) => c.server.listen(0, "127.0.0.1", resolve));
    c.url = `http://127.0.0.1:${c.server.address().port}`;
    return c;
  }
  async stop() {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

const renderer = (script, body = "") => `<!doctype html><meta charset="utf-8"><body style="font: 14px sans-serif; margin: 8px">${body}<pre id="said"></pre><script>
const post = (more) => parent.postMessage({shoal: 1, ...more}, "*");
const said = document.getElementById("said");
${script}
</script>`;

// Shows what it receives, and proposes an answer for each button.
const honest = renderer(`
const statuses = [];
addEventListener("message", ({data}) => {
  if (data?.shoal !== 1 || data.type !== "render") return;
  statuses.push(data.argsStatus);
  said.textContent = JSON.stringify({tool: data.tool, name: data.args?.name ?? null, complete: data.argsStatus, state: data.state, canAnswer: data.canAnswer, theme: data.theme, locale: data.locale, result: data.result, streamed: statuses.includes("streaming")});
  post({type: "height", px: 140});
});
document.getElementById("yes").onclick = () => post({type: "answer", value: {chosen: "port", count: 3}});
document.getElementById("link").onclick = () => post({type: "open", url: "https://example.org/harbour"});
post({type: "ready"});`, `<button id="yes">Port side</button> <button id="link">More</button>`);

// Tries everything that could lead out of its frame, and writes down what came of it.
const escapes = (canary) => renderer(`
const tries = {
  "the parent's document": () => parent.document.body.innerHTML,
  "the top window's address": () => top.location.href,
  "the parent's storage": () => parent.localStorage.length,
  cookies: () => document.cookie,
  "its own storage": () => localStorage.setItem("a", "b"),
  "indexed database": () => indexedDB.open("a"),
  "top navigation": () => { top.location = "${canary}/top"; return "ran"; },
  popup: () => window.open("${canary}/popup") ?? Promise.reject(new Error("no window")),
  "fetch of another host": () => fetch("${canary}/fetch"),
  "fetch of the server": () => fetch("/v1/me", {credentials: "include"}).then((r) => r.text()),
  beacon: () => { navigator.sendBeacon("${canary}/beacon", "x"); throw new Error("it only says whether it was queued"); },
  "event source": () => new Promise((ok, no) => { const e = new EventSource("${canary}/events"); e.onopen = () => ok("open"); e.onerror = () => no(new Error("closed")); }),
  socket: () => new Promise((ok, no) => { const w = new WebSocket("${canary.replace("http", "ws")}/socket"); w.onopen = () => ok("open"); w.onerror = () => no(new Error("closed")); }),
  picture: () => new Promise((ok, no) => { const i = new Image(); i.onload = () => ok("loaded"); i.onerror = () => no(new Error("blocked")); i.src = "${canary}/picture.png"; }),
  script: () => new Promise((ok, no) => { const e = document.createElement("script"); e.onload = () => ok("loaded"); e.onerror = () => no(new Error("blocked")); e.src = "${canary}/script.js"; document.body.append(e); }),
  "a frame inside": () => new Promise((ok, no) => { document.addEventListener("securitypolicyviolation", (e) => e.effectiveDirective === "frame-src" && no(new Error("blocked"))); const f = document.createElement("iframe"); f.src = "${canary}/frame"; document.body.append(f); }),
  worker: () => new Promise((ok, no) => { const w = new Worker(URL.createObjectURL(new Blob(["postMessage(1)"]))); w.onmessage = () => ok("ran"); w.onerror = () => no(new Error("blocked")); }),
  "a dialog": () => { alert("hit"); if (confirm("hit")) return "confirmed"; throw new Error("no dialog"); },
  "a form": () => { const f = document.createElement("form"); f.action = "${canary}/form"; f.target = "_top"; document.body.append(f); f.submit(); throw new Error("nothing came of it"); },
  "a link to the top": () => { const a = document.createElement("a"); a.href = "${canary}/link"; a.target = "_top"; document.body.append(a); a.click(); throw new Error("nothing came of it"); },
};
(async () => {
  const out = {};
  for (const [name, attempt] of Object.entries(tries)) {
    try { out[name] = "REACHED " + String(await attempt()).slice(0, 60); } catch (e) { out[name] = "refused"; }
  }
  said.textContent = JSON.stringify(out);
  post({type: "answer", value: {chosen: "mine", consent: true}});
})();
post({type: "ready"});`);

const garbage = renderer(`
addEventListener("message", ({data}) => {
  if (data !== "begin") return;
  const circle = {}; circle.self = circle;
  const all = [null, 0, "x", [], {}, {shoal: 2, type: "answer", value: 1}, {shoal: 1}, {shoal: 1, type: "nothing"}, {shoal: 1, type: "height", px: Infinity}, {shoal: 1, type: "height", px: "9"}, {shoal: 1, type: "height"},
    {shoal: 1, type: "open", url: "javascript:parent.hit()"}, {shoal: 1, type: "open", url: "data:text/html,x"}, {shoal: 1, type: "open", url: 7}, {shoal: 1, type: "answer"}, {shoal: 1, type: "answer", value: circle}, {shoal: 1, type: "answer", value: "x".repeat(300000)},
    {shoal: 1, type: "render", args: {}}, {type: "message.created", message: {}}, {shoal: 1, type: "__proto__", value: 1}];
  for (const one of all) parent.postMessage(one, "*");
  for (let i = 0; i < 20000; i++) parent.postMessage({shoal: 1, type: "nothing", i, pad: "p".repeat(100)}, "*");
  parent.postMessage("end", "*");
});
post({type: "height", px: 1e9});
said.textContent = "There is a lot to say.";
post({type: "ready"});`);

const tool = (name, more = {}) => ({
  name, description: name, executionType: "basic", execution: { mode: "no-execution" }, displayTool: true,
  inputSchema: { type: "object", properties: { name: { type: "string" }, log: { type: "string" } } }, outputSchema: { type: "object", properties: { chosen: { type: "string" }, count: { type: "integer" } }, required: ["chosen"] }, ...more,
});

/** A space in which an agent has called a tool that a page draws. */
async function harbour(id, name, html, { args = { name: "Nina" }, latency = 5 } = {}) {
  const answer = await fetch(`${s.server.url}/v1/sessions/default/renderers/${name}`, { method: "PUT", headers: { Authorization: `Bearer ${s.server.key}`, "Content-Type": "text/html" }, body: html });
  assert.equal(answer.status, 201, await answer.text());
  models.play(id, [{ toolCalls: [send(id, "Which side?"), call(name, { targetSpaceId: id, ...args })] }, { content: "Done." }], latency);
  await s.server.at("PUT", `/agents/${id}-agent`, models.agent(id, id, { tools: [tool(name)] }));
  await s.server.at("POST", "/spaces", { id, name: id, members: ["operator", `${id}-agent`] }, { as: "operator" });
  const { person, page } = await operator(s);
  await go(s, page, `/spaces/${id}`);
  await page.getByRole("textbox", { name: "Message" }).waitFor();
  await s.server.says("operator", id, "Begin.");
  const frame = page.frameLocator(`iframe[title="Card of ${name}"]`);
  const received = async () => JSON.parse((await frame.locator("#said").textContent()) || "{}");
  return { person, page, frame, received };
}

/** What waits for an answer in a space. */
const waiting = async (space) => (await s.server.at("GET", "/pending-actions", undefined, { as: "operator" })).items.filter((p) => p.spaceId === space);
const stored = async (space) => (await s.server.at("GET", `/spaces/${space}/messages`)).items.flatMap((m) => m.parts).find((p) => p.type === "tool_call");

test("it receives the arguments as they stream, and only the console's button sends its proposal", async () => {
  const { person, page, frame, received } = await harbour("honest", "showBoat", honest, { args: { name: "Nina", log: "fair wind ".repeat(200) }, latency: 8 });
  await eventually("the arguments came while they were written", async () => (await received()).streamed);
  await eventually("they are complete", async () => (await received()).complete === "complete" && (await received()).canAnswer);
  const now = await received();
  assert.deepEqual({ tool: now.tool, name: now.name, theme: now.theme, result: now.result }, { tool: "showBoat", name: "Nina", theme: "light", result: null });
  await eventually("it is as high as it wished", async () => (await page.locator("iframe").boundingBox()).height >= 138 && (await page.locator("iframe").boundingBox()).height <= 144);

  await frame.getByRole("button", { name: "Port side" }).click();
  const send = page.getByRole("button", { name: "Send this answer" });
  await send.waitFor();
  assert.equal((await waiting("honest")).length, 1, "a proposal settles nothing");
  await picture(page, "frame-proposal");
  await page.getByRole("button", { name: "Don't send" }).click();
  await send.waitFor({ state: "detached" });
  assert.equal((await waiting("honest")).length, 1);
  await frame.getByRole("button", { name: "Port side" }).click();
  await send.click();
  const part = await eventually("it is answered", async () => [await stored("honest")].find((p) => p.status === "done"));
  assert.deepEqual([part.result, part.answeredBy], [{ chosen: "port", count: 3 }, "operator"]);
  await eventually("the frame learns it", async () => (await received()).result?.chosen === "port" && !(await received()).canAnswer);

  await frame.getByRole("button", { name: "More" }).click();
  await page.getByText("The card wants to open a page of").waitFor();
  assert.equal(person.context.pages().length, 1, "nothing opens by itself");
  await page.emulateMedia({ colorScheme: "dark" });
  await eventually("it receives the theme", async () => (await received()).theme === "dark");
  await person.clean();
  await person.close();
});

test("the frame cannot reach the network or the page, and a forged answer is ignored", async () => {
  const { person, page, received } = await harbour("escape", "showCage", escapes(canary.url));
  const address = page.url();
  const tries = await eventually("it has tried everything", async () => (Object.keys(await received().catch(() => ({}))).length > 10 ? received() : undefined));
  for (const [name, outcome] of Object.entries(tries)) assert.equal(outcome, "refused", name);
  assert.ok(Object.keys(tries).length >= 20);
  await page.getByText("The card proposes this answer:").waitFor();
  assert.equal((await waiting("escape")).length, 1, "a frame cannot consent");
  assert.equal(page.url(), address);
  assert.equal(person.context.pages().length, 1);
  assert.deepEqual(canary.hits, []);
  // The browser says in the console what it has refused; nothing else is wrong.
  person.expected.push(/^the page's console: .*(violates|sandbox|Blocked|refused|Refused|Unsafe|Ignored)/s, new RegExp(`^a request to (${canary.url}|${canary.url.replace("http", "ws")})`));
  await person.clean();
  await person.close();
});

test("a frame that leaves its page is not followed", async () => {
  const { person, page } = await harbour("leaves", "showLeaver", renderer(`post({type: "ready"}); location.href = "${canary.url}/self";`));
  await page.locator("iframe").waitFor();
  await eventually("it was refused", () => page.evaluate(() => globalThis.violations.some((v) => v.startsWith("frame-src"))));
  assert.deepEqual(canary.hits, []);
  await page.getByRole("textbox", { name: "Message" }).fill("Still here.");
  person.expected.push(/frame-src/, new RegExp(`^a request to ${canary.url}`));
  await person.clean();
  await person.close();
});

test("messages other than requests change nothing, however many; its height is bounded", async () => {
  const { person, page, frame } = await harbour("garbage", "showGarbage", garbage);
  await frame.getByText("There is a lot to say.").waitFor();
  await eventually("its height is bounded", async () => (await page.locator("iframe").boundingBox()).height === 2000);
  await page.getByRole("article").getByText("waiting for a person").waitFor();
  // All but the time that goes by.
  const drawn = () => page.evaluate(() => document.querySelector("main").outerHTML.replace(/\d+(\.\d+)? (ms|s|min)\b/g, ""));
  await page.evaluate(() => {
    globalThis.hit = () => (globalThis.wasHit = true);
    addEventListener("message", (e) => e.data === "end" && (globalThis.ended = true));
  });
  // What is still on its way (states, marks of what was read) has come when it is the same for a while.
  let before;
  let same = 0;
  await eventually("the page is still", async () => {
    const now = await drawn();
    same = now === before ? same + 1 : 0;
    before = now;
    return same >= 20;
  });
  await page.evaluate(() => document.querySelector("iframe").contentWindow.postMessage("begin", "*"));
  await page.waitForFunction(() => globalThis.ended);
  assert.equal(await drawn(), before);
  assert.equal(await page.evaluate(() => globalThis.wasHit ?? false), false);
  assert.equal((await waiting("garbage")).length, 1);
  await page.getByRole("textbox", { name: "Message" }).fill("It still answers.");
  await person.clean();
  await person.close();
});
