// Signing in: by the link that the server prints, and by a key; and out again.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { test } from "node:test";
import { axe, Person } from "./stage/browser.mjs";
import { eventually, go, operator, picture, stage } from "./stage/stage.mjs";

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

test("a pasted key signs in, a wrong one shows the reason", async () => {
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
  await eventually("the page is in a space of the session", () => /\/s\/default\/spaces\/welcome$/.test(page.url()));
  await page.getByRole("link", { name: "All spaces" }).click();
  await page.getByRole("link", { name: /welcome/i }).first().waitFor();
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

test("signing out in one tab signs out all tabs, also if the key stays valid", async () => {
  const person = await Person.at(s.browser);
  const page = await person.open(s.server.url);
  await page.locator("input[type=password]").fill(s.server.key);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("navigation", { name: "Main" }).waitFor();
  const other = await person.open(s.server.url);
  await other.getByRole("link", { name: /welcome/i }).first().waitFor();
  const signedOut = page.waitForResponse((r) => r.url().endsWith("/console/logout"));
  await page.goto(`${s.server.url}/s/default/settings?tab=browser`);
  await page.getByRole("button", { name: "Sign out", exact: true }).click();
  await signedOut;
  for (const tab of [page, other]) await tab.getByRole("heading", { name: "Sign in to Shoal" }).waitFor();
  await person.close();
});

test("a server on another port gets the cookie, and can do nothing with it", async () => {
  const { person, page } = await operator(s);
  let got;
  const other = createServer((req, res) => {
    got = req.headers.cookie;
    res.setHeader("Content-Type", "text/html");
    res.end("<title>Other</title>");
  });
  await new Promise((resolve) => other.listen(0, "127.0.0.1", resolve));
  try {
    const elsewhere = await person.context.newPage();
    await elsewhere.goto(`http://127.0.0.1:${other.address().port}/`);
    assert.match(got, /shoal-\d+=shoal-console_/);
    const databases = await elsewhere.evaluate(() => indexedDB.databases());
    assert.deepEqual(databases, [], "what the console keeps is not to be seen from there");
    const headers = { Cookie: got, Origin: s.server.url, "Sec-Fetch-Site": "same-origin" };
    for (const path of ["/v1/me", "/v1/sessions/default/spaces", "/v1/sessions/default/events"]) {
      const answer = await fetch(s.server.url + path, { headers });
      await answer.body?.cancel();
      assert.equal(answer.status, 401, path);
    }
  } finally {
    other.closeAllConnections();
    other.close();
  }
  await page.reload();
  await page.getByRole("link", { name: /welcome/i }).first().waitFor();
  await person.close();
});

test("signing out everywhere ends every browser that came by a link", async () => {
  const [one, two] = [await operator(s), await operator(s)];
  await one.page.goto(`${s.server.url}/s/default/settings?tab=browser`);
  await one.page.getByRole("button", { name: "Sign out everywhere" }).waitFor();
  await picture(one.page, "sign-out");
  await one.page.getByRole("button", { name: "Sign out everywhere" }).click();
  await one.page.getByRole("heading", { name: "Sign in to Shoal" }).waitFor();
  await two.page.getByText(/signed out/i).waitFor({ timeout: 40_000 });
  await one.person.close();
  await two.person.close();
});

test("pictures and files are shown and saved by signed URLs", async () => {
  const { person, page } = await operator(s);
  const png = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAIAAACQkWg2AAAAFklEQVR4nGNgYPhPGhrVMKphVMMQ1AAAuQz/AWZ5Wb0AAAAASUVORK5CYII=", "base64");
  // Nobody answers here: what moves while it is clicked is not clicked.
  await s.server.at("POST", "/spaces", { id: "desk", name: "Desk" }, { as: "operator" });
  await go(s, page, "/spaces/desk");
  await page.locator("input[type=file]").setInputFiles([
    { name: "dot.png", mimeType: "image/png", buffer: png },
    { name: "list.csv", mimeType: "text/csv", buffer: Buffer.from("a,b\n1,2\n") },
  ]);
  await page.getByRole("textbox", { name: "Message" }).fill("Two files.");
  await eventually("both are there", async () => (await page.getByRole("button", { name: "Send" }).isEnabled()) && !(await page.getByRole("progressbar").count()));
  await page.getByRole("button", { name: "Send" }).click();
  const article = page.getByRole("article").filter({ hasText: "Two files." });
  const shown = article.getByRole("img", { name: "dot.png" });
  await eventually("the picture is drawn", () => shown.evaluate((img) => img.complete && img.naturalWidth === 16));
  const saved = page.waitForEvent("download");
  await article.getByText("list.csv").locator("xpath=ancestor::div[1]").getByText("Download").click();
  assert.equal((await saved).suggestedFilename(), "list.csv");
  const tab = person.context.waitForEvent("page");
  await shown.click();
  const opened = await tab;
  await opened.waitForURL(/\/files\/.*\?signed=/);
  assert.equal(await opened.evaluate(() => document.images[0]?.naturalWidth), 16);
  await opened.close();
  await person.clean();
  await person.close();
});
