// Hostile content through the real server into a real browser: nothing runs, nothing
// is loaded, nothing but the place where it is shown changes. The corpus is the one
// of web/src/parts, whose components are tested with it as well.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Person } from "./stage/browser.mjs";
import { Models } from "./stage/models.mjs";
import { dangers, nameAll, postAll, texts } from "./stage/pit.mjs";
import { go, operator, picture, stage } from "./stage/stage.mjs";

const s = stage();

/** Says so wherever a payload runs: they all call alert. */
const watch = (person) =>
  person.context.addInitScript(() => {
    globalThis.ran = [];
    for (const name of ["alert", "confirm", "prompt", "hit"]) globalThis[name] = (...said) => void globalThis.ran.push(`${name}(${said})`);
  });

/** What is wrong with a page: what ran, what was smuggled into it, what its policy had to stop. */
const wrong = (page) =>
  page.evaluate(() => {
    const found = [...globalThis.ran, ...globalThis.violations];
    const own = (url) => new URL(url, location.href).origin === location.origin;
    for (const e of document.querySelectorAll("*")) {
      const what = `${e.tagName.toLowerCase()} ${e.outerHTML.slice(0, 80)}`;
      if (/^(iframe|frame|object|embed|applet|portal|base|style|math|foreignobject|animate|set)$/i.test(e.tagName)) found.push(what);
      if (/^(script|link)$/i.test(e.tagName) && !own(e.src || e.href)) found.push(what);
      for (const { name, value } of e.attributes) {
        if (/^on/i.test(name) || name === "srcdoc" || name === "formaction") found.push(`${name} of ${what}`);
        if (/^(href|src|action|xlink:href|poster|data)$/i.test(name) && /^[\s\u0000-\u0020]*(javascript|vbscript|data:text|data:image\/svg|file|blob:http)/i.test(value)) found.push(`${name} of ${what}`);
        if (name === "src" && !value.startsWith("data:image/") && !own(value)) found.push(`${name} of ${what}`);
      }
    }
    if (Object.keys(Object.prototype).length > 0 || "polluted" in {}) found.push("Object.prototype is polluted");
    if (typeof document.getElementById !== "function" || typeof document.body.append !== "function") found.push("the document is clobbered");
    return found;
  });

/** The document without what is said in it: elements, and the names of their attributes. */
const skeleton = (page) =>
  page.evaluate(() => {
    const drawn = (e) => {
      if (e.role === "log" || /^(link|script)$/i.test(e.tagName)) return "";
      const inner = e.closest("svg") ? "" : [...e.children].map(drawn).join("");
      return `<${e.tagName} ${[...e.attributes].map((a) => a.name).filter((n) => !/^(aria-busy|aria-current|data-|tabindex|style|title)/.test(n)).sort().join(" ")}>${inner}`;
    };
    return drawn(document.documentElement);
  });

/** Where two skeletons part; nothing if they are the same. */
function changed(was, now) {
  const [a, b] = [was, now].map((x) => x.match(/<[^>]*>/g));
  const at = a.findIndex((tag, i) => tag !== b[i]);
  return was === now ? [] : [a, b].map((x) => x.slice(Math.max(0, at - 2), at + 4).join(""));
}

/** What is dangerous in the messages that are drawn, all of them. */
async function inMessages(page) {
  await page.evaluate(`globalThis.dangers ??= ${dangers}`);
  return page.evaluate(() => [...document.querySelectorAll("article")].flatMap((e) => globalThis.dangers(e, true)).filter((d) => !/^<form>|input name|(select|input|textarea) id/.test(d)));
}

/** Draws everything of the timeline that is not drawn because it is far from the window. */
async function drawAll(page, last) {
  await page.locator(`article[data-seq="${last}"]`).waitFor();
  await page.locator("aside").getByRole("tab").first().waitFor(); // the panel comes by itself
  await page.locator('[aria-label^="Actions for"]').first().waitFor({ state: "attached" }); // as do the menus of rows
  await page.evaluate(async () => {
    for (const e of document.querySelectorAll("article")) {
      e.scrollIntoView();
      await new Promise((drawn) => requestAnimationFrame(drawn));
    }
    document.activeElement.blur();
  });
  await page.keyboard.press("End");
}

async function watched() {
  const { person, page } = await operator(s);
  await watch(person);
  await page.reload(); // with the watch in it
  await page.getByRole("link", { name: /welcome/i }).first().waitFor();
  return { person, page };
}

describe("hostile content", () => {
  let models;
  const refused = [];
  before(async () => void (models = await Models.start()));
  after(() => models?.stop());

  test("as messages: nothing runs, and nothing around them changes", async () => {
    const { person, page } = await watched();
    const spaces = await postAll(s.server, refused);
    await s.server.at("POST", "/spaces", { id: "before", name: "Before", members: ["operator"] }, { as: "operator" });
    await s.server.says("operator", "before", "A word.");
    await go(s, page, "/spaces/before");
    await drawAll(page, 1);
    const was = await skeleton(page);
    for (const space of spaces) {
      const { lastSeq } = await s.server.at("GET", `/spaces/${space}`);
      await go(s, page, `/spaces/${space}`);
      await drawAll(page, lastSeq);
      assert.equal(await page.getByRole("article").count(), lastSeq, `all messages of ${space} are drawn`);
      assert.deepEqual(await inMessages(page), [], space);
      assert.deepEqual(await wrong(page), [], space);
      assert.deepEqual(changed(was, await skeleton(page)), [], `the page around ${space}`);
      await picture(page, `hostile-${space}`);
    }
    assert.ok(texts.length >= 150);
    await person.clean();
    await person.close();
  });

  test("as names, arguments, questions and configs: no page runs any of it", async (t) => {
    await nameAll(s.server, models, refused);
    t.diagnostic(`${refused.length} were refused by the server`);
    // Most are names with characters that nobody sees or that change the direction.
    assert.ok(refused.length < 80, refused.join("\n"));
    for (const why of refused) assert.match(why, /invalid_argument|invalid_json|too_large/);
    const at = async (path) => (await s.server.at("GET", path, undefined, { as: "operator" })).items;
    const runs = await at("/runs");
    const pending = await at("/pending-actions");
    assert.ok(pending.length > 20 && pending.some((p) => p.kind === "question") && pending.some((p) => p.kind === "permission"), `${pending.length} wait`);
    const run = (agent) => runs.find((r) => r.agentId === agent).id;
    const { person, page } = await watched();
    const pages = [
      "/spaces/crowd", "/spaces/tools", "/spaces/asked", "/spaces/files", "/approvals", "/approvals?show=done", ...pending.map((p) => `/approvals?pending=${p.id}`), "/runs",
      ...["", "?tab=messages", "?tab=saw", "?tab=events", "?tab=errors"].map((tab) => `/runs/${run("shower")}${tab}`), `/runs/${run("asker")}`,
      "/agents", ...["instructions", "tools", "text", "versions", "triggers"].map((tab) => `/agents/asker?tab=${tab}`), "/agents/shower", "/plans", "/sessions?id=default", "/connect",
      "/search?q=alert", "/search?q=script", ...["profile", "members", "keys", "usage"].map((tab) => `/settings?tab=${tab}`),
    ];
    for (const path of pages) {
      await page.evaluate((to) => history.pushState({}, "", to), `/s/default${path}`);
      await page.getByRole("heading", { level: 1 }).first().waitFor();
      await page.locator(".animate-pulse").first().waitFor({ state: "detached" });
      await page.evaluate(() => document.querySelectorAll("main summary, main [aria-expanded=false]:not([aria-haspopup])").forEach((e) => e.click()));
      assert.deepEqual(await wrong(page), [], path);
      assert.deepEqual((await inMessages(page)).filter(() => path.startsWith("/spaces/")), [], path);
      if (!/pending=/.test(path)) await picture(page, `hostile${path.replace(/\W+/g, "-")}`);
    }
    await page.keyboard.press("Control+k");
    await page.keyboard.type("alert");
    await page.getByRole("dialog").getByRole("option").first().waitFor();
    assert.deepEqual(await wrong(page), [], "the palette");
    await person.clean();
    await person.close();
  });

  test("an executed script would be detected", async () => {
    const person = await Person.at(s.browser, { bypassCSP: true });
    await watch(person);
    const page = await person.context.newPage();
    await page.route("**/*", async (route) => {
      if (route.request().resourceType() !== "document") return route.request().url().includes("canary") ? route.abort() : route.continue();
      const answer = await route.fetch();
      await route.fulfill({ response: answer, body: `${await answer.text()}<div role="log"></div><article><img src="x" onerror="alert(1)"><a href="javascript:alert(2)">x</a><iframe srcdoc="x"></iframe></article>` });
    });
    await page.goto(s.server.url);
    await page.waitForFunction(() => globalThis.ran.length > 0);
    const found = (await wrong(page)).join("\n");
    for (const sign of [/alert\(1\)/, /onerror of img/, /href of a/, /iframe/]) assert.match(found, sign);
    assert.ok((await inMessages(page)).length >= 4);
    const was = await skeleton(page);
    await page.evaluate(() => document.body.append(document.createElement("hr")));
    assert.notEqual(await skeleton(page), was);
    await person.close();

    // The policy stops what is planted into the page as it is served, and says so.
    const guarded = await Person.at(s.browser);
    await watch(guarded);
    const blocked = await guarded.open(s.server.url);
    await assert.rejects(blocked.evaluate(() => document.createElement("img").setAttribute("onerror", "alert(3)")), /TrustedScript/);
    await blocked.evaluate(() => {
      const planted = document.createElement("img");
      planted.src = "https://canary.example/pixel.gif";
      document.body.append(planted);
    });
    await blocked.waitForFunction(() => globalThis.violations.length > 0);
    assert.deepEqual(await blocked.evaluate(() => globalThis.ran), []);
    await assert.rejects(guarded.clean());
    await guarded.close();
  });
});
