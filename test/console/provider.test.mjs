// Signing in with an account at a real OpenID provider, the list of signed-in browsers, and signing
// out, here and at the provider.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { axe, launch, Person } from "./stage/browser.mjs";
import { client, OpenID } from "./stage/provider.mjs";
import { Server } from "./stage/server.mjs";
import { eventually, patience, picture } from "./stage/stage.mjs";

const s = {};

before(async () => {
  s.openid = await OpenID.at();
  [s.server, s.browser] = await Promise.all([
    Server.start({
      env: { SHOAL_OIDC_CLIENT_SECRET: client.secret },
      args: ["--oidc-issuer", s.openid.issuer, "--oidc-client-id", client.id, "--oidc-name", "Example ID", "--oidc-domain", "example.com", "--oidc-space", "welcome"],
    }),
    launch(),
  ]);
});
after(async () => {
  await s.browser?.close();
  await s.server?.stop();
  s.openid?.close();
});

const button = (page) => page.getByRole("button", { name: "Sign in with Example ID" });

async function visitor(path, look) {
  const person = await Person.at(s.browser, look);
  const page = await person.open(s.server.url + path);
  page.setDefaultTimeout(patience);
  await button(page).waitFor();
  return { person, page };
}

async function signedIn(login, path = "/", look) {
  const { person, page } = await visitor(path, look);
  await button(page).click();
  await s.openid.signIn(page, login);
  await page.getByRole("navigation", { name: "Main" }).waitFor();
  return { person, page };
}

test("a server whose provider is away starts, says so, and signs in once the provider is there", async () => {
  assert.match(s.server.said, /nobody can sign in with the OpenID provider now/);
  const { person, page } = await visitor("/");
  await button(page).click();
  await page.getByRole("alert").getByText(/Example ID cannot be reached from this server/).waitFor();
  assert.deepEqual(await axe(page), []);
  await picture(page, "signin-provider-away");
  await s.openid.open(s.server.url);
  await eventually("the browser is at the provider", async () => {
    if (page.url().startsWith(s.openid.issuer)) return true;
    await button(page).click({ timeout: 500 }).catch(() => {});
    return false;
  });
  await person.close();
});

test("the button leads to the provider and back, signed in as the person", async () => {
  for (const look of [{ theme: "light", width: "wide" }, { theme: "dark", width: "phone" }]) {
    const { person, page } = await visitor("/", look);
    assert.deepEqual(await axe(page), []);
    await picture(page, `signin-provider-${look.theme}-${look.width}`);
    await person.clean();
    await person.close();
  }
  const { person, page } = await signedIn("ann", "/s/default/settings?tab=profile");
  assert.equal(page.url(), `${s.server.url}/s/default/settings?tab=profile`, "the page that was asked for");
  const ann = await s.server.at("GET", "/entities/ann-lee");
  assert.equal(ann.externalId, `${s.openid.issuer}|ann`);
  assert.deepEqual([ann.kind, ann.name, ann.sessionRole], ["human", "Ann Lee", "member"]);
  const welcome = await s.server.at("GET", "/spaces/welcome");
  assert.ok(welcome.members.some((m) => m.entityId === "ann-lee"));
  const stored = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie]));
  assert.ok(!stored.includes("eyJ") && !stored.includes("shoal.provider"), stored);
  const cookies = await person.context.cookies(s.server.url);
  assert.ok(cookies.some((c) => c.name === `shoal-${s.server.port}` && c.httpOnly && c.sameSite === "Strict"));
  assert.ok(!cookies.some((c) => c.name.startsWith("shoal-oidc")), "the sign-in is over");
  await person.close();
});

test("an address that is not verified does not sign in, and the reason is shown", async () => {
  const { person, page } = await visitor("/");
  await button(page).click();
  await s.openid.signIn(page, "mallory");
  await page.getByRole("alert").getByText(/mallory@example.com is not verified at Example ID/).waitFor();
  assert.deepEqual(await axe(page), []);
  await picture(page, "signin-provider-refused");
  await person.close();
});

test("an answer that this window has not asked for signs nobody in", async () => {
  const { person, page } = await visitor("/s/default#oidc=code%3Dx%26state%3Dy");
  await page.getByRole("alert").getByText(/has not begun this sign-in/).waitFor();
  assert.ok(!page.url().includes("oidc"), page.url());
  await person.close();
});

test("signed-in browsers are listed, and one that is ended elsewhere notices", async () => {
  const here = await signedIn("bob", "/s/default/settings?tab=browser");
  const there = await signedIn("bob");
  await here.page.reload();
  const list = here.page.getByRole("region", { name: "Signed-in devices" });
  await list.getByText("this browser").waitFor();
  await eventually("both are in the list", async () => (await list.getByRole("listitem").count()) === 2);
  assert.ok((await list.textContent()).includes("127.0.0.1"));
  assert.deepEqual(await axe(here.page), []);
  await picture(here.page, "settings-sign-ins");
  await here.page.setViewportSize({ width: 390, height: 844 });
  await here.page.emulateMedia({ colorScheme: "dark" });
  await picture(here.page, "settings-sign-ins-dark-phone");
  await list.getByRole("button", { name: /^Sign out / }).click();
  const dialog = here.page.getByRole("dialog", { name: /^Sign out / });
  assert.deepEqual(await axe(here.page), []);
  await dialog.getByRole("button", { name: "Sign out" }).click();
  await there.page.getByText(/signed out/i).waitFor({ timeout: 40_000 });
  await eventually("one is left", async () => (await list.getByRole("listitem").count()) === 1);
  await here.person.close();
  await there.person.close();
});

test("signing out also signs out at the provider, and comes back", async () => {
  const { person, page } = await signedIn("kim", "/s/default/settings?tab=browser");
  await page.getByRole("button", { name: "Sign out", exact: true }).click();
  await page.waitForURL((url) => url.href.startsWith(s.openid.issuer));
  await page.getByRole("button", { name: /yes/i }).click();
  await button(page).waitFor();
  assert.ok(page.url().startsWith(s.server.url), page.url());
  await button(page).click();
  await page.locator("input[name=login]").waitFor();
  await person.close();
});
