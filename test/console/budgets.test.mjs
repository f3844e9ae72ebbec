// What the console may weigh, and what it may cost to watch a model write.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test, before, after } from "node:test";
import { gzipSync } from "node:zlib";
import { Person } from "./stage/browser.mjs";
import { Models, send } from "./stage/models.mjs";
import { eventually, go, operator, stage } from "./stage/stage.mjs";

Person.serviceWorkers = "allow";
const s = stage();
const KB = 1024;
const assets = join(import.meta.dirname, "../../internal/console/dist/assets");

let models;
before(async () => void (models = await Models.start()));
after(() => models.stop());

/** The scripts that the document itself names, and those that they are made of. */
async function entries(page) {
  const seen = new Set();
  const visit = (name) => {
    if (seen.has(name)) return;
    seen.add(name);
    const imports = readFileSync(join(assets, name), "utf8").matchAll(/(?:^|[;}])(?:import|export)[^;"']*from?\s*["']\.\/([^"']+\.js)["']/g);
    for (const [, next] of imports) visit(next);
  };
  const scripts = await page.locator("script[src]").evaluateAll((all) => all.map((s) => s.getAttribute("src").split("/").pop()));
  scripts.forEach(visit);
  return seen;
}

/** Adds up what a page loads, as it comes over the wire. */
function weigh(page) {
  const loaded = { js: 0, css: 0, files: [] };
  page.on("response", (r) => {
    const kind = new URL(r.url()).pathname.match(/^\/assets\/.*\.(js|css)$/)?.[1];
    if (!kind) return;
    const size = Number(r.headers()["content-length"]);
    loaded[kind] += size;
    loaded.files.push(`${new URL(r.url()).pathname} ${size}`);
  });
  return loaded;
}

test("the shell is at most 130 KB, a space 100 KB more, and 230 KB come before the first message", async (t) => {
  await s.server.says("operator", "purchasing", "a word", { triggerAgents: false });
  const person = await Person.at(s.browser);
  const page = await person.context.newPage();
  await page.goto(await s.server.newLink());
  await page.getByRole("navigation", { name: "Main" }).waitFor();
  const sizes = [...new Set(await entries(page))].map((name) => [name, gzipSync(readFileSync(join(assets, name)), { level: 9 }).length]);
  const shell = sizes.reduce((sum, [, size]) => sum + size, 0);
  const cold = await Person.at(s.browser, { storageState: await person.context.storageState({ indexedDB: true }) });
  const first = await cold.context.newPage();
  const all = weigh(first);
  await go(s, first, "/spaces/purchasing");
  await first.getByRole("article").getByText("a word").waitFor();
  const total = all.js + all.css;
  t.diagnostic(`shell ${Math.round(shell / KB)} KB, space ${Math.round((all.js - shell) / KB)} KB, with styles ${Math.round(total / KB)} KB gzip`);
  assert.ok(shell <= 130 * KB, `the shell weighs ${shell} bytes:\n${sizes.map((s) => s.join(" ")).join("\n")}`);
  assert.ok(all.js - shell <= 100 * KB, `a space weighs ${all.js - shell} bytes more:\n${all.files.join("\n")}`);
  assert.ok(total <= 230 * KB, `${total} bytes come before the first message:\n${all.files.join("\n")}`);
  await person.close();
  await cold.close();
});

test("no piece is larger than 110 KB", () => {
  for (const name of readdirSync(assets)) {
    const size = gzipSync(readFileSync(join(assets, name))).length;
    assert.ok(size <= 130 * KB && (size <= 110 * KB || name.startsWith("index-")), `${name} weighs ${size} bytes`);
  }
});

// 10.5 KB of markdown in some 2,100 pieces, 150 a second: at most 4 s of the main
// thread's own time for 14 s of writing (console.md, section 7).
const saga = Array.from({ length: 30 }, (_, i) =>
  `## Part ${i + 1}\n\nThe **school** turned at \`${i}\` knots, and _nobody_ had said so. See [the log](https://example.org/${i}).\n\n- one fish, two fish\n- red fish, blue fish\n  - and the one that got away\n\n| knots | fish |\n| --- | ---: |\n| ${i} | ${i * 7} |\n\n`,
).join("");

test("watching a model write 150 pieces a second costs little", async (t) => {
  models.play("saga", [{ toolCalls: [send("sea", saga)] }], 1000 / 150);
  await s.server.at("PUT", "/agents/teller", models.agent("Teller", "saga"));
  await s.server.at("POST", "/spaces", { id: "sea", name: "Sea", members: ["operator", "teller"] }, { as: "operator" });
  const { person, page } = await operator(s);
  await go(s, page, "/spaces/sea");
  await page.getByRole("textbox").waitFor();
  const cdp = await person.context.newCDPSession(page);
  await cdp.send("Performance.setTimeDomain", { timeDomain: "threadTicks" });
  await cdp.send("Performance.enable");
  const cost = async () => Object.fromEntries((await cdp.send("Performance.getMetrics")).metrics.map((m) => [m.name, m.value])).ScriptDuration;
  const begun = Date.now();
  const before = await cost();
  await s.server.says("operator", "sea", "Write me a saga.");
  await page.getByRole("heading", { name: "Part 30" }).waitFor({ timeout: 60_000 });
  await eventually("the message is whole", async () => (await s.server.at("GET", "/spaces/sea/messages")).items.at(-1).status === "completed");
  const seconds = (Date.now() - begun) / 1000;
  const spent = (await cost()) - before;
  t.diagnostic(`${spent.toFixed(2)} s of script in ${seconds.toFixed(1)} s`);
  assert.ok(spent <= (4 / 14) * seconds, `${spent} s of script in ${seconds} s`);
  await person.clean();
  await person.close();
});
