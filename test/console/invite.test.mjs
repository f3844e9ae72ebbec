// An invitation: the operator makes a link, a person opens it on a phone, chooses a name and
// is in; the link works once.
import assert from "node:assert/strict";
import { test } from "node:test";
import { axe, Person } from "./stage/browser.mjs";
import { eventually, go, operator, picture, stage } from "./stage/stage.mjs";

const s = stage();

/** Makes a link in the settings and returns it. */
async function link(page, name) {
  await go(s, page, "/settings?tab=members");
  await page.getByRole("button", { name: "Invite a person" }).click();
  const dialog = page.getByRole("dialog", { name: "Invite a person" });
  await dialog.getByRole("textbox", { name: /For whom/ }).fill(name);
  await dialog.getByRole("checkbox", { name: "Welcome" }).waitFor();
  assert.ok(await dialog.getByRole("checkbox", { name: "Welcome" }).isChecked());
  await picture(page, `invite-dialog-${name}`);
  assert.deepEqual(await axe(page), []);
  await dialog.getByRole("button", { name: "Create the link" }).click();
  const made = page.getByRole("dialog", { name: "Send this link to one person" });
  const url = (await made.locator("pre").textContent()).trim();
  assert.match(url, new RegExp(`^${s.server.url}/join#invite=[\\w-]{43}$`));
  assert.deepEqual(await axe(page), []);
  await picture(page, `invite-link-${name}`);
  await made.getByRole("button", { name: "Done" }).click();
  return url;
}

test("a person who opens an invitation chooses a name and is in", async () => {
  const { person, page } = await operator(s);
  const url = await link(page, "Ann");
  await page.getByRole("heading", { name: "Invitations that nobody has accepted yet" }).waitFor();
  assert.deepEqual(await axe(page), []);
  await picture(page, "invite-members");

  for (const look of [{ theme: "light", width: "wide" }, { theme: "dark", width: "phone" }]) {
    const visitor = await Person.at(s.browser, look);
    const at = await visitor.open(url);
    const field = at.getByRole("textbox", { name: "Your name" });
    await field.waitFor();
    assert.ok(!at.url().includes("invite="), at.url());
    assert.deepEqual(await axe(at), []);
    await picture(at, `join-${look.theme}-${look.width}`);
    await at.getByRole("button", { name: "Join" }).click();
    await at.getByText("Type a name first.").waitFor();
    if (look.width === "wide") {
      await visitor.close();
      continue;
    }
    await field.fill("Ann Lee");
    await field.press("Enter");
    await at.getByRole("heading", { name: "Welcome, Ann Lee" }).waitFor();
    assert.match(await at.getByLabel("Your key").textContent(), /^shoal_[\w-]{43}/);
    assert.deepEqual(await axe(at), []);
    await picture(at, `joined-${look.theme}-${look.width}`);
    await at.getByRole("link", { name: "Open Shoal" }).click();
    // A first visit begins in a space, on a phone, too.
    await at.getByRole("heading", { name: "Welcome", exact: true }).waitFor();
    const me = await at.evaluate(async () => (await fetch("/v1/me", { credentials: "same-origin" })).status);
    assert.equal(me, 401, "the cookie alone is of no use");
    const stored = await at.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie]));
    assert.ok(!stored.includes("shoal_"), stored);
    await visitor.close();
  }

  const { items } = await s.server.call("GET", "/sessions/default/spaces/welcome/members");
  assert.ok(items.some((m) => m.entityId === "ann-lee" && m.kind === "human"), JSON.stringify(items));
  await go(s, page, "/settings?tab=members");
  await page.getByText("Ann Lee").first().waitFor();
  assert.equal(await page.getByRole("heading", { name: "Invitations that nobody has accepted yet" }).count(), 0);

  const late = await Person.at(s.browser, { theme: "light", width: "phone" });
  const again = await late.open(url);
  await again.getByRole("textbox", { name: "Your name" }).fill("Mallory");
  await again.getByRole("button", { name: "Join" }).click();
  await again.getByRole("alert").waitFor();
  await again.getByText("This invitation does not work any more.").waitFor();
  assert.deepEqual(await axe(again), []);
  await picture(again, "join-used-light-phone");
  assert.deepEqual(await late.context.cookies(), []);
  await late.close();
  await person.clean();
  await person.close();
});

test("an invitation is withdrawn, and one is made from the people of a space", async () => {
  const { person, page } = await operator(s, { theme: "dark" });
  const url = await link(page, "Bob");
  await page.getByText("member, joins Welcome, expires").waitFor();
  await page.route(/\/invites\//, (route) => route.abort());
  await page.getByRole("button", { name: "Withdraw the invitation for Bob" }).click();
  await page.getByText("Server unreachable.").waitFor();
  await page.unroute(/\/invites\//);
  await page.getByRole("button", { name: "Withdraw the invitation for Bob" }).click();
  await eventually("the invitation is gone", async () => (await s.server.call("GET", "/sessions/default/invites")).items.length === 0);
  const visitor = await Person.at(s.browser);
  const at = await visitor.open(url);
  await at.getByRole("textbox", { name: "Your name" }).fill("Bob");
  await at.getByRole("button", { name: "Join" }).click();
  await at.getByRole("alert").waitFor();
  await visitor.close();

  await go(s, page, "/spaces/welcome");
  await page.getByRole("button", { name: "Invite a person" }).click();
  await page.getByRole("dialog", { name: "Invite a person" }).getByRole("button", { name: "Create the link" }).click();
  await page.getByRole("dialog", { name: "Send this link to one person" }).waitFor();
  assert.deepEqual((await s.server.call("GET", "/sessions/default/invites")).items[0].spaces, ["welcome"]);
  await person.clean();
  await person.close();
});

test("an invitation offers the roles that its maker can give", async () => {
  const every = ["admin", "auditor", "guest", "member", "owner"];
  await s.server.at("POST", "/entities", { id: "mia", kind: "human", name: "Mia", sessionRole: "admin" });
  const { key } = await s.server.call("POST", "/keys", { role: "entity", sessionId: "default", entityId: "mia", name: "mia" });
  const given = [];
  for (const sessionRole of every) {
    await s.server.at("POST", "/invites", { sessionRole }, { key }).then(
      () => given.push(sessionRole),
      (error) => assert.match(error.message, /403/),
    );
  }
  assert.deepEqual(given, ["admin", "guest", "member"]);

  const offered = async (page) => {
    await go(s, page, "/settings?tab=members");
    await page.getByRole("button", { name: "Invite a person" }).click();
    const options = await page.getByRole("dialog", { name: "Invite a person" }).getByLabel("Role").locator("option").allTextContents();
    await page.keyboard.press("Escape");
    return options.sort();
  };
  const { person, page } = await operator(s);
  assert.deepEqual(await offered(page), every);
  await person.clean();
  await person.close();

  const mia = await Person.at(s.browser);
  const hers = await mia.open(s.server.url);
  await hers.getByLabel("Your key").fill(key);
  await hers.keyboard.press("Enter");
  await hers.getByLabel("Your key").waitFor({ state: "detached" });
  assert.deepEqual(await offered(hers), given);
  await mia.close();
});

test("an address without a code says so", async () => {
  const visitor = await Person.at(s.browser, { width: "phone" });
  const at = await visitor.open(`${s.server.url}/join`);
  await at.getByRole("heading", { name: "This link is not complete" }).waitFor();
  assert.deepEqual(await axe(at), []);
  await picture(at, "join-incomplete-light-phone");
  await visitor.close();
});
