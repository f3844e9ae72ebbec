// What counts as read: only what was on the screen, and nothing that the reader kept.
import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually, go, operator, picture, stage } from "./stage/stage.mjs";

const s = stage();

let n = 0;
/** A space with messages of Ada that the operator has not read. */
async function full(count) {
  const id = `hall${++n}`;
  if (n === 1) await s.server.at("POST", "/entities", { id: "ada", name: "Ada", kind: "human" });
  await s.server.at("POST", "/spaces", { id, name: `Hall ${n}`, members: ["operator", "ada"] }, { as: "operator" });
  for (let i = 1; i <= count; i++) await s.server.says("ada", id, `Line ${i}.`);
  return id;
}

const state = (id) => s.server.at("GET", `/spaces/${id}`, undefined, { as: "operator" });
const line = (page, i) => page.getByRole("article").filter({ hasText: new RegExp(`Line ${i}\\.`) });
/** The largest seq of a message that is on the screen now. */
const lowest = (page) =>
  page.evaluate(() => {
    const box = document.querySelector("[data-timeline]").getBoundingClientRect();
    const shown = [...document.querySelectorAll("[data-message]")].filter((e) => e.getBoundingClientRect().top < box.bottom - 4 && e.getBoundingClientRect().bottom > box.top);
    return Number(shown.at(-1).dataset.seq);
  });
const count = (page, name) => page.getByRole("button", { name: new RegExp(`^\\d+ ${name}`) });

test("a space with 121 unread messages opens at the first one, and only those on the screen are read", async () => {
  const id = await full(121);
  const { person, page } = await operator(s);
  await go(s, page, `/spaces/${id}`);
  await line(page, 1).waitFor();
  await page.getByText("new since").waitFor();
  await eventually("the first is on the screen", () => line(page, 1).evaluate((e) => e.getBoundingClientRect().top >= document.querySelector("[data-timeline]").getBoundingClientRect().top));
  await eventually("something is read", async () => (await state(id)).unreadCount < 121);
  await page.waitForTimeout(1500);
  const seen = await lowest(page);
  const { unreadCount, firstUnreadSeq } = await state(id);
  assert.ok(firstUnreadSeq <= seen + 1, `message ${firstUnreadSeq - 1} is read, ${seen} is the last on the screen`);
  assert.ok(firstUnreadSeq >= seen - 1, `only up to ${firstUnreadSeq} is read, although ${seen} is on the screen`);
  assert.equal(unreadCount, 121 - (firstUnreadSeq - 1));
  assert.equal(await count(page, "new").innerText(), `${unreadCount} new`);
  await picture(page, "unread-below");

  // At the newest message what was skipped stays unread, and a bar leads back to it.
  await page.getByRole("button", { name: /^\d+ new$/ }).click();
  await line(page, 121).waitFor();
  await page.waitForTimeout(1500);
  assert.equal((await state(id)).firstUnreadSeq, firstUnreadSeq);
  await picture(page, "unread-above");
  await count(page, "new").first().click();
  await line(page, firstUnreadSeq).waitFor();
  await eventually("reading goes on there", async () => (await state(id)).firstUnreadSeq > firstUnreadSeq);

  // Esc marks all as read.
  await page.keyboard.press("Escape");
  await eventually("all is read", async () => (await state(id)).unreadCount === 0);
  await line(page, 121).waitFor();
  await person.clean();
  await person.close();
});

test("a glance of less than a second reads nothing", async () => {
  const id = await full(3);
  const { person, page } = await operator(s);
  await go(s, page, `/spaces/${id}`);
  await line(page, 3).waitFor();
  await go(s, page, "/settings");
  await page.getByRole("heading", { name: "Settings" }).first().waitFor();
  await page.waitForTimeout(1500);
  assert.equal((await state(id)).unreadCount, 3);
  await person.clean();
  await person.close();
});

test("messages that were marked unread stay so until the reader comes back", async () => {
  const id = await full(4);
  const { person, page } = await operator(s);
  await go(s, page, `/spaces/${id}`);
  await eventually("all is read", async () => (await state(id)).unreadCount === 0);
  await line(page, 3).hover();
  await line(page, 3).getByRole("button", { name: "More actions" }).click();
  await picture(page, "message-menu");
  await page.getByRole("menuitem", { name: "Mark unread from here" }).click();
  await eventually("two are unread", async () => (await state(id)).unreadCount === 2);
  await page.getByText("new since").waitFor();
  await page.waitForTimeout(2000);
  assert.equal((await state(id)).firstUnreadSeq, 3);
  await go(s, page, "/settings");
  await go(s, page, `/spaces/${id}`);
  await eventually("read again", async () => (await state(id)).unreadCount === 0);
  await person.clean();
  await person.close();
});

test("what another tab shows does not read what was marked unread here", async () => {
  const id = await full(4);
  const { person, page } = await operator(s);
  await go(s, page, `/spaces/${id}`);
  await eventually("all is read", async () => (await state(id)).unreadCount === 0);
  const other = await person.context.newPage();
  await other.goto(page.url());
  await line(other, 4).waitFor();
  await line(page, 2).hover();
  await line(page, 2).getByRole("button", { name: "More actions" }).click();
  await page.getByRole("menuitem", { name: "Mark unread from here" }).click();
  await eventually("three are unread", async () => (await state(id)).unreadCount === 3);
  await other.bringToFront();
  await other.waitForTimeout(2000);
  assert.equal((await state(id)).unreadCount, 3);
  await person.clean();
  await person.close();
});

test("what arrives while the reader is further up stays unread until it is on the screen", async () => {
  const id = await full(60);
  const { person, page } = await operator(s);
  await go(s, page, `/spaces/${id}`);
  await line(page, 1).waitFor();
  await page.keyboard.press("Escape");
  await eventually("all is read", async () => (await state(id)).unreadCount === 0);
  await line(page, 60).waitFor();
  await page.locator("[data-timeline]").hover();
  await page.mouse.wheel(0, -2000);
  await page.getByRole("button", { name: "Newest" }).waitFor();
  await s.server.says("ada", id, "Line 61.");
  await page.getByRole("button", { name: "1 new" }).waitFor();
  await page.waitForTimeout(1500);
  assert.equal((await state(id)).unreadCount, 1);
  await page.getByRole("button", { name: "1 new" }).click();
  await eventually("it is read", async () => (await state(id)).unreadCount === 0);
  await person.clean();
  await person.close();
});

test("what the reader has sent stays on the screen, whatever arrives for the way to the first unread message", async () => {
  const id = await full(121);
  const { person, page } = await operator(s);
  let asked = 0;
  let release;
  const gate = new Promise((resolve) => (release = resolve));
  await page.route(/\/messages\?.*after=/, async (route) => {
    asked++;
    await gate;
    await route.continue();
  });
  await go(s, page, `/spaces/${id}`);
  await line(page, 121).waitFor();
  await eventually("the page asks for what is around the first unread message", async () => asked > 0);
  await page.getByRole("textbox", { name: "Message" }).fill("Here I am.");
  await page.keyboard.press("Enter");
  const mine = page.getByText("Here I am.", { exact: true });
  await mine.waitFor();
  const loaded = page.waitForResponse(/\/messages\?.*after=/);
  release();
  await loaded;
  await page.waitForTimeout(1500);
  assert.ok(await mine.isVisible(), "the message is on the screen");
  assert.equal(await lowest(page), 122);
  // The way back is one click.
  await count(page, "new").first().click();
  await line(page, 1).waitFor();
  await person.close();
});
