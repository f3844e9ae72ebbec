// What somebody has typed outlives the tab and the browser, and is sent once.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Person } from "./stage/browser.mjs";
import { isStored } from "./stage/outbox.mjs";
import { eventually, go, operator, patience, picture, stage } from "./stage/stage.mjs";

const s = stage();

const field = (page) => page.getByRole("textbox", { name: "Message" });
const said = async (text) => (await s.server.at("GET", "/spaces/welcome/messages")).items.filter((m) => m.parts[0]?.text === text).length;
const waits = (page, text) => page.getByRole("article", { name: /sending/ }).filter({ hasText: text });

async function writeWhileAway(page, text) {
  await s.server.kill();
  await field(page).fill(text);
  await page.getByRole("button", { name: "Send" }).click();
  await waits(page, text).waitFor();
  await eventually("it is stored in the browser", () => isStored(page, text));
}

test("a message that was written while the server was away is sent after its tab was closed", async () => {
  const { person, page } = await operator(s);
  await go(s, page, "/spaces/welcome");
  await field(page).waitFor();
  await writeWhileAway(page, "From a closed tab");
  await picture(page, "outbox-waiting");
  await page.close();
  await s.server.begin();
  // It is sent from any page of the console, not just from its space.
  const next = await person.context.newPage();
  await next.goto(`${s.server.url}/s/default/settings`);
  await eventually("it is sent", async () => (await said("From a closed tab")) === 1);
  await next.goto(`${s.server.url}/s/default/spaces/welcome`);
  await eventually("it is shown once", async () => (await next.getByText("From a closed tab").count()) === 1);
  await person.close();
});

test("it is sent by the next start of the browser, too", async () => {
  const { person, page } = await operator(s);
  await go(s, page, "/spaces/welcome");
  await field(page).waitFor();
  await writeWhileAway(page, "From a closed browser");
  const storageState = await person.context.storageState({ indexedDB: true });
  await person.close();
  await s.server.begin();
  const again = await Person.at(s.browser, { storageState });
  const next = await again.open(`${s.server.url}/s/default/spaces/welcome`);
  next.setDefaultTimeout(patience);
  await eventually("it is sent", async () => (await said("From a closed browser")) === 1);
  await again.close();
});

test("two tabs show what waits, and one of them sends it", async () => {
  const { person, page } = await operator(s);
  await go(s, page, "/spaces/welcome");
  await field(page).waitFor();
  const other = await person.context.newPage();
  other.setDefaultTimeout(patience);
  await other.goto(page.url());
  await field(other).waitFor();
  const posts = [];
  person.context.on("request", (r) => r.method() === "POST" && r.url().endsWith("/messages") && posts.push(r));
  await writeWhileAway(page, "From one of two tabs");
  await waits(other, "From one of two tabs").waitFor();
  await s.server.begin();
  await eventually("it is sent", async () => (await said("From one of two tabs")) === 1);
  for (const tab of [page, other]) await eventually("it is shown once", async () => (await tab.getByText("From one of two tabs").count()) === 1);
  assert.equal(await said("From one of two tabs"), 1);
  const answered = (await Promise.all(posts.map((r) => r.response().catch(() => null)))).filter((r) => r?.ok());
  assert.equal(answered.length, 1, "one call was answered");
  await person.close();
});

test("a refused message stays with the reason, and is sent again or discarded", async () => {
  await s.server.at("POST", "/spaces", { id: "brief", name: "Brief", members: ["operator"] }, { as: "operator" });
  const { person, page } = await operator(s);
  await go(s, page, "/spaces/brief");
  await field(page).waitFor();
  await page.route(/\/spaces\/brief\/messages$/, (route) => (route.request().method() === "POST" ? route.fulfill({ status: 403, contentType: "application/problem+json", body: JSON.stringify({ status: 403, code: "forbidden", title: "Forbidden", detail: "Not today." }) }) : route.continue()));
  await field(page).fill("Is this allowed?");
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByText("Not sent: Not today.").waitFor();
  await page.reload();
  await page.getByText("Not sent: Not today.").waitFor();
  await page.unroute(/\/spaces\/brief\/messages$/);
  await page.getByRole("button", { name: "Try again" }).click();
  await eventually("it is sent", async () => (await s.server.at("GET", "/spaces/brief/messages")).items.length === 1);
  await person.close();
});

test("what is being written is there again after the tab was closed at once", async () => {
  const { person, page } = await operator(s);
  await go(s, page, "/spaces/welcome");
  await field(page).fill("Half a thought");
  await page.close({ runBeforeUnload: true });
  const next = await person.context.newPage();
  await next.goto(`${s.server.url}/s/default/spaces/welcome`);
  await eventually("the draft is back", async () => (await field(next).inputValue()) === "Half a thought");
  await person.close();
});
