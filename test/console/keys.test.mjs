// By keyboard alone: from signing in to an approved order. The focus is always seen
// and never lost, single letters do nothing while somebody types, and nothing at all
// when they are switched off; no single key approves.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Person } from "./stage/browser.mjs";
import { call, Models } from "./stage/models.mjs";
import { eventually, go, operator, patience, picture, stage } from "./stage/stage.mjs";

const s = stage();
let models;
before(async () => void (models = await Models.start()));
after(() => models?.stop());

/** What has the focus, and whether that can be seen. */
const focus = (page) =>
  page.evaluate(() => {
    const e = document.activeElement;
    const named = e.getAttribute("aria-label") || e.labels?.[0]?.innerText || e.innerText;
    const outlined = (x) => x !== null && getComputedStyle(x).outlineStyle !== "none" && parseFloat(getComputedStyle(x).outlineWidth) >= 2;
    // A field that fills its frame is outlined by the frame; the palette's holds the caret over the list that it moves in.
    const seen = outlined(e) || (e.matches("input, textarea") && (outlined(e.parentElement) || outlined(e.closest("form > div")))) || e.role === "combobox";
    const box = e.getBoundingClientRect();
    return { tag: e.tagName, name: (named ?? "").trim(), seen, lost: e === document.body || e === document.documentElement, shown: box.bottom > 0 && box.top < innerHeight };
  });

/** Presses a key until something of that name has the focus; on the way it is never lost. */
async function until(page, name, key = "Tab", most = 80) {
  let wrapped = 0;
  const way = [];
  for (let i = 0; i < most; i++) {
    await page.keyboard.press(key);
    const at = await focus(page);
    // After the last one the focus leaves the page, and returns at its other end.
    way.push(`${at.tag} ${at.name.slice(0, 30)}`);
    if (at.lost && wrapped++ === 0) continue;
    assert.ok(at.seen && at.shown, `the focus cannot be seen on ${JSON.stringify(at)}, after ${way.join(", ")}`);
    if (name.test(at.name)) return at;
  }
  throw new Error(`${key} never came to ${name}; it is at ${JSON.stringify(await focus(page))}`);
}

/** Fails if nothing has the focus, or nothing that can be seen. */
async function kept(page, when) {
  const at = await focus(page);
  assert.ok(!at.lost && at.seen, `the focus is lost ${when}: ${JSON.stringify(at)}`);
}

const openPending = async () => (await s.server.at("GET", "/pending-actions", undefined, { as: "operator" })).items;

/** Goes somewhere by the palette. */
async function jump(page, words, heading) {
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Search commands" }).waitFor();
  await page.keyboard.type(words);
  await page.getByRole("option", { selected: true }).filter({ hasText: new RegExp(words, "i") }).waitFor();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: heading, level: 1 }).waitFor();
}

test("from signing in to an approved order without a mouse", async () => {
  const person = await Person.at(s.browser);
  const page = await person.open(s.server.url);
  page.setDefaultTimeout(patience);
  await page.getByRole("heading", { name: "Sign in to Shoal" }).waitFor();
  await until(page, /^Your key/);
  await page.keyboard.type(s.server.key);
  await page.keyboard.press("Enter");
  await page.getByRole("navigation", { name: "Main" }).waitFor();

  // The first page may have given its field the focus, before a key was pressed on it.
  await jump(page, "Purchasing", "Purchasing");
  await jump(page, "Welcome", "Welcome");
  await page.keyboard.press("r");
  const field = page.getByRole("textbox", { name: "Message" });
  await eventually("the letter leads to the field", async () => (await focus(page)).name === "Message");
  assert.ok((await focus(page)).seen);
  await page.keyboard.type("@sho");
  await page.getByRole("option", { name: /Shop Agent/ }).waitFor();
  await page.keyboard.press("Enter");
  await page.keyboard.type("I need a laptop");
  await page.keyboard.press("Control+Enter");
  await page.getByRole("button", { name: "Choose" }).nth(1).waitFor();
  assert.equal(await field.inputValue(), "");

  // The two cards are before the field in the tab order: going backwards finds the second one first.
  await until(page, /^Choose$/, "Shift+Tab");
  await page.keyboard.press("Enter");
  await eventually("the order waits for its permission", async () => (await openPending()).some((p) => p.kind === "permission"));
  await eventually("one choice has settled both cards", async () => (await page.getByRole("article").getByText("You answered").count()) === 2);
  await kept(page, "after an answer");

  await page.keyboard.press("g");
  await page.keyboard.press("i");
  await page.getByRole("heading", { name: "Approvals", level: 1 }).waitFor();
  await page.getByRole("button", { name: "Approve", exact: true }).waitFor();
  await until(page, /^Approve$/);
  await picture(page, "keys-approve");
  await page.keyboard.press("Enter");
  await eventually("the order is placed", async () => JSON.stringify(await s.server.at("GET", "/spaces/welcome/messages")).includes("your laptop is ordered"));
  await page.getByRole("article").getByText("You approved").last().waitFor();
  await kept(page, "after the approval");
  await person.clean();
  await person.close();
});

test("a dialog gives the focus back to where it was", async () => {
  const { person, page } = await operator(s);
  await go(s, page, "/spaces/welcome");
  await page.getByRole("textbox", { name: "Message" }).waitFor();
  const from = async (name, open, dialog) => {
    await until(page, name);
    await open();
    await page.getByRole("dialog", { name: dialog }).waitFor();
    const inside = await eventually("the focus is in the dialog", () => page.evaluate(() => document.querySelector("dialog[open]")?.contains(document.activeElement)));
    assert.ok(inside);
    // Tab stays inside the dialog: the page below cannot be reached.
    for (let i = 0; i < 12; i++) {
      await page.keyboard.press("Tab");
      assert.ok(await page.evaluate(() => document.activeElement === document.body || document.querySelector("dialog[open]").contains(document.activeElement)));
    }
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" }).catch(() => undefined);
    await eventually(`the focus is back on ${name}`, async () => name.test((await focus(page)).name));
  };
  const press = (key) => () => page.keyboard.press(key);
  await from(/^Search$/, press("?"), "Keyboard shortcuts");
  await from(/^New space$/, press("Enter"), "New space");
  await from(/^Add members$/, press("Enter"), /^Add to/);
  await from(/^Approvals/, press("Control+k"), "Go anywhere, do anything");
  await until(page, /^More about this space$/);
  await page.keyboard.press("Enter");
  await eventually("the menu's first entry has the focus", async () => (await focus(page)).name === "Add members");
  await page.keyboard.press("ArrowDown");
  assert.equal((await focus(page)).name, "Rename");
  await page.keyboard.press("Escape");
  assert.equal((await focus(page)).name, "More about this space");
  await page.keyboard.press("Enter");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.getByRole("dialog", { name: "Rename space" }).waitFor();
  await page.keyboard.press("Escape");
  await eventually("the focus is back on the menu's button", async () => (await focus(page)).name === "More about this space");
  await person.clean();
  await person.close();
});

test("single-letter shortcuts are ignored while typing, and when they are switched off", async () => {
  const { person, page } = await operator(s);
  await go(s, page, "/spaces/welcome");
  const field = page.getByRole("textbox", { name: "Message" });
  await field.focus();
  const letters = "gigrgagsnNjk?/.rJ";
  await page.keyboard.type(letters);
  assert.equal(await field.inputValue(), letters);
  assert.ok(page.url().endsWith("/spaces/welcome"), page.url());
  assert.equal(await page.getByRole("dialog").count(), 0);
  await field.fill("");

  await go(s, page, "/settings?tab=appearance");
  await page.getByRole("checkbox", { name: "Single-letter shortcuts" }).waitFor();
  await until(page, /^Single-letter shortcuts/);
  await page.keyboard.press("Space");
  await page.evaluate(() => document.activeElement.blur());
  for (const key of ["?", "/", "g", "i", "g", "r", "n", "N", ".", "r"]) await page.keyboard.press(key);
  // What needs Ctrl still works, and comes after all of those.
  await page.keyboard.press("Control+k");
  await page.getByRole("dialog", { name: "Go anywhere, do anything" }).waitFor();
  assert.equal(await page.getByRole("dialog").count(), 1);
  assert.match(page.url(), /settings\?tab=appearance$/);
  await page.keyboard.press("Escape");
  await page.getByRole("checkbox", { name: "Single-letter shortcuts" }).check();
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
  await person.clean();
  await person.close();
});

test("no single key answers a pending action", async () => {
  const order = { name: "order", executionType: "basic", execution: { mode: "pass-through" }, displayTool: true, requiresPermission: true, inputSchema: { type: "object", properties: { amount: { type: "number" } } } };
  models.play("buyer", [{ toolCalls: [call("order", { targetSpaceId: "vault", amount: 50000 })] }, { content: "Done." }]);
  await s.server.at("PUT", "/agents/buyer", models.agent("Buyer", "buyer", { tools: [order] }));
  await s.server.at("POST", "/spaces", { id: "vault", name: "Vault", members: ["operator", "buyer"] }, { as: "operator" });
  await s.server.says("operator", "vault", "Buy it.");
  const waits = async () => (await openPending()).filter((p) => p.spaceId === "vault");
  const [pending] = await eventually("an order waits", async () => [await waits()].find((all) => all.length > 0));
  const { person, page } = await operator(s);
  const keys = [..."abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.,;!?+-#*/", "Enter", "Space", "Control+Enter", "Delete", "Backspace", "ArrowDown", "ArrowRight"];
  for (const path of [`/approvals?pending=${pending.id}`, "/spaces/vault"]) {
    await go(s, page, path);
    const approve = page.getByRole("button", { name: "Approve", exact: true }).first();
    await approve.waitFor();
    const at = page.url();
    for (const key of keys) {
      await page.keyboard.press(key);
      // A letter may lead elsewhere or open a dialog: the next one is pressed here again.
      if ((await page.getByRole("dialog").count()) > 0) await page.keyboard.press("Escape");
      if (page.url() !== at) {
        await page.evaluate((url) => history.pushState({}, "", url), at);
        await approve.waitFor();
      }
      await page.evaluate(() => document.activeElement.blur());
    }
  }
  assert.deepEqual((await waits()).map((p) => p.id), [pending.id]);
  await person.clean();
  await person.close();
});
