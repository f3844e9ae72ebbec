// The console opens while the server is away, from what the browser keeps of it, and is never
// older than the server that answers.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { axe, Person } from "./stage/browser.mjs";
import { build, Front } from "./stage/builds.mjs";
import { eventually, go, operator, patience, picture, stage } from "./stage/stage.mjs";

Person.serviceWorkers = "allow";
const s = stage({ limit: 300_000 });
const folders = mkdtempSync(join(tmpdir(), "shoal-builds-"));
const [first, second] = ["first", "second"].map((name) => join(folders, name));
before(async () => {
  await build(first, "first");
  await build(second, "second");
});
after(() => rmSync(folders, { recursive: true, force: true }));

/** Waits until the service worker of the build that the page shows has taken over. */
const keptBy = (page) => page.evaluate(async () => {
  await navigator.serviceWorker.ready;
  if (navigator.serviceWorker.controller === null) await new Promise((resolve) => navigator.serviceWorker.addEventListener("controllerchange", resolve, { once: true }));
});

/** The addresses of everything that the browser keeps in its caches. */
const kept = (page) => page.evaluate(async () => {
  const caches_ = await Promise.all((await caches.keys()).map((name) => caches.open(name)));
  const requests = await Promise.all(caches_.map((cache) => cache.keys()));
  return requests.flat().map((r) => new URL(r.url).pathname);
});

/** Waits until the browser keeps a file of a build, by a part of its service worker's list. */
const keeps = (page, entry) => eventually(`the browser keeps ${entry}`, async () => (await kept(page)).includes(entry));

const unreachable = (page) => page.getByRole("heading", { name: "Server unreachable" });
const field = (page) => page.getByRole("textbox", { name: "Message" });
const shown = (page) => page.evaluate(() => document.documentElement.dataset.build);
const entryOf = (page) => page.evaluate(() => new URL(document.querySelector("script[src]").src).pathname);

test("a page that is opened while the server is away says so, and opens when the server is back", async () => {
  const { person, page } = await operator(s);
  await go(s, page, "/spaces/welcome");
  await field(page).fill("A draft");
  await keptBy(page);
  await s.server.kill();
  await page.reload();
  await unreachable(page).waitFor();
  for (const theme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme: theme, reducedMotion: "reduce" });
    assert.deepEqual(await axe(page), []);
    await picture(page, `away-${theme}-wide`);
  }
  // Another tab opens as well, on a page that was never seen.
  const other = await person.context.newPage();
  await other.goto(`${s.server.url}/s/default/plans`);
  await unreachable(other).waitFor();
  // A path of another part of the server is not the console's.
  await assert.rejects(other.goto(`${s.server.url}/docs`), /ERR_CONNECTION_REFUSED/);
  const files = await kept(page);
  assert.ok(files.length > 50, `${files.length} files are kept`);
  assert.deepEqual(files.filter((path) => !/^\/assets\/[^/]+$|^\/$|^\/favicon\.svg$/.test(path)), []);
  await s.server.begin();
  await page.bringToFront();
  await field(page).waitFor();
  assert.equal(await field(page).inputValue(), "A draft");
  await person.clean();
  await person.close();
});

test("after an upgrade no page is of the version before", async () => {
  const front = await Front.before(s.server.url, first);
  try {
    const person = await Person.at(s.browser);
    const page = await person.open((await s.server.newLink()).replace(s.server.url, front.url));
    page.setDefaultTimeout(patience);
    const open = (on, path) => on.goto(`${front.url}/s/default${path}`);
    await page.getByRole("navigation", { name: "Main" }).waitFor();
    await open(page, "/spaces/welcome");
    await keptBy(page);
    const before = await entryOf(page);
    assert.equal(await shown(page), "first");
    await keeps(page, before);

    // The server goes away, a page is opened, and another version comes back.
    const early = await person.context.newPage();
    early.setDefaultTimeout(patience);
    await front.end();
    await open(early, "/approvals");
    await unreachable(early).waitFor();
    assert.equal(await shown(early), "first");
    front.folder = second;
    await front.begin();
    await early.getByRole("heading", { name: "Approvals", level: 1 }).waitFor();
    assert.equal(await shown(early), "second");
    const now = await entryOf(early);
    assert.notEqual(now, before);

    // A tab that stayed open can still open pages that it has not loaded yet.
    assert.equal(await shown(page), "first");
    await page.bringToFront();
    await page.getByRole("link", { name: "Plans", exact: true }).click();
    await page.getByRole("heading", { name: "Plans", level: 1 }).waitFor();
    assert.equal(await shown(page), "first");

    // What is kept is the new version from now on, also while the server is away.
    await open(early, "/spaces/welcome");
    await keeps(early, now);
    await eventually("the new service worker has taken over", () => early.evaluate(async () => (await navigator.serviceWorker.getRegistration())?.waiting === null && (await navigator.serviceWorker.getRegistration())?.installing === null));
    await front.end();
    await page.reload();
    await unreachable(page).waitFor();
    assert.equal(await shown(page), "second");
    await person.clean();
    await person.close();
  } finally {
    await front.end().catch(() => {});
  }
});
