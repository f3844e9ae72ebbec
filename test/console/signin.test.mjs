// Signing in: by the link that the server prints, and by a key; and out again.
import assert from "node:assert/strict";
import { test } from "node:test";
import { axe, Person } from "./stage/browser.mjs";
import { eventually, operator, picture, stage } from "./stage/stage.mjs";

const s = stage();

test("the printed link signs in once, and leaves nothing in the address", async () => {
  const person = await Person.at(s.browser);
  const page = await person.open(s.server.link);
  await page.getByRole("link", { name: /welcome/i }).first().waitFor();
  assert.ok(!page.url().includes("login"), page.url());
  const cookies = await person.context.cookies();
  assert.equal(cookies.length, 1);
  assert.equal(cookies[0].httpOnly, true);
  assert.equal(cookies[0].sameSite, "Strict");
  const stored = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie]));
  assert.ok(!stored.includes(cookies[0].value) && !stored.includes("shoal_"), stored);
  await person.clean();

  const other = await Person.at(s.browser);
  const again = await other.open(s.server.link);
  await again.getByRole("heading", { name: "Sign in to Shoal" }).waitFor();
  await again.getByRole("alert").waitFor();
  assert.deepEqual(await axe(again), []);
  await picture(again, "signin-used-link");
  await other.close();
  await person.close();
});

test("a pasted key signs in, a wrong one is told why not", async () => {
  const person = await Person.at(s.browser, { theme: "dark", width: "phone" });
  const page = await person.open(s.server.url);
  const field = page.locator("input[type=password]");
  await field.fill("shoal_wrong");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByText(/key/i).nth(1).waitFor();
  await eventually("the field is marked as wrong", () => page.locator("[aria-invalid]").count());
  assert.deepEqual(await axe(page), []);
  await picture(page, "signin-wrong-key-dark-phone");
  await field.fill(s.server.key);
  await page.getByRole("button", { name: "Sign in" }).click();
  await eventually("the page is in the session", () => /\/s\/default\/spaces/.test(page.url()));
  await person.clean();
  await person.close();
});

test("an agent's key opens its own session and nothing of an admin's", async () => {
  const { key } = await s.server.call("POST", "/keys", { role: "entity", sessionId: "default", entityId: "ann", kind: "human", name: "ann" });
  const person = await Person.at(s.browser);
  const page = await person.open(s.server.url);
  await page.locator("input[type=password]").fill(key);
  await page.getByRole("button", { name: "Sign in" }).click();
  const nav = page.getByRole("navigation", { name: "Main" });
  await nav.getByRole("link", { name: "Approvals" }).waitFor();
  assert.equal(await nav.getByRole("link", { name: "Agents" }).count(), 0);
  await person.clean();
  await person.close();
});

test("a revoked key ends what is open, with a way back", async () => {
  const { person, page } = await operator(s);
  const { items } = await s.server.call("GET", "/keys?limit=200");
  for (const key of items.filter((k) => k.name === "console")) await s.server.call("DELETE", `/keys/${key.id}`);
  await page.getByText(/signed out/i).waitFor({ timeout: 40_000 });
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { name: "Sign in to Shoal" }).waitFor();
  await person.close();
});

test("who signs out in one tab is signed out in all, also with a key that lives on", async () => {
  const person = await Person.at(s.browser);
  const page = await person.open(s.server.url);
  await page.locator("input[type=password]").fill(s.server.key);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("navigation", { name: "Main" }).waitFor();
  const other = await person.open(s.server.url);
  await other.getByRole("link", { name: /welcome/i }).first().waitFor();
  const signedOut = page.waitForResponse((r) => r.url().endsWith("/console/logout"));
  await page.goto(`${s.server.url}/s/default/settings?tab=browser`);
  await page.getByRole("button", { name: "Sign out" }).click();
  await signedOut;
  for (const tab of [page, other]) await tab.getByRole("heading", { name: "Sign in to Shoal" }).waitFor();
  await person.close();
});
