// Every page, dialog and menu, light and dark, on a wide window and on a phone: axe
// finds nothing, nothing is wider than the window, and nothing is asked of another
// host. Review the pictures (SHOAL_PICTURES): no other test finds what is ugly.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { axe, overflow, Person } from "./stage/browser.mjs";
import { Models } from "./stage/models.mjs";
import { scenery } from "./stage/scenery.mjs";
import { scenes } from "./stage/scenes.mjs";
import { operator, picture, stage } from "./stage/stage.mjs";

const s = stage();
/** What is wrong with what is shown, in one theme. */
async function faults(page, theme) {
  await page.emulateMedia({ colorScheme: theme, reducedMotion: "reduce" });
  await page.locator(`html[data-theme=${theme}]`).waitFor();
  await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
  // What does not change with the colours was looked at in the light.
  const rules = theme === "light" ? undefined : ["color-contrast", "link-in-text-block"];
  return [...(await axe(page, rules)), ...(await overflow(page)).map((e) => `wider than the window: ${e}`)].map((f) => `${theme}: ${f}`);
}

/** Goes to a page without loading the console again, as a link does. */
async function visit(page, { session = "default", path, absolute = false }) {
  const push = (to) => page.evaluate((url) => history.pushState({}, "", url), to);
  if ((await page.locator("dialog[open]").count()) > 0) await page.keyboard.press("Escape");
  // Another page lies between two scenes, so that each one begins anew.
  await push(`/s/${session}/settings?tab=appearance`);
  await page.getByRole("radio", { name: "System" }).waitFor();
  await push(absolute ? path : `/s/${session}${path}`);
}

async function look(page, scene, width) {
  const name = (theme) => `${scene.name}-${theme}-${width}`;
  const wrong = [];
  try {
    await visit(page, scene);
    await scene.act?.(page, width);
    await scene.seen(page, width).waitFor();
    await page.locator(".animate-pulse").first().waitFor({ state: "detached" });
    for (const theme of ["light", "dark"]) {
      wrong.push(...(await faults(page, theme)));
      await picture(page, name(theme));
    }
    await scene.after?.(page);
  } catch (error) {
    await picture(page, name("failed"));
    throw error;
  }
  assert.deepEqual(wrong, []);
}

describe("every page, dialog and menu", { concurrency: 2 }, () => {
  let models, found;
  before(async () => {
    models = await Models.start();
    found = await scenery(s.server, models);
  });
  after(() => models?.stop());

  for (const width of ["wide", "phone"]) {
    test(`on a ${width === "wide" ? "wide window" : "phone"}`, async (t) => {
      const { person, page } = await at(width);
      for (const scene of scenes(found, width).filter((c) => c.name.includes(process.env.SHOAL_SCENE ?? ""))) await t.test(`${scene.name}, ${width}`, () => look(page, scene, width));
      await person.clean();
      await person.close();
    });
  }

  test("what is wrong would be found", async () => {
    const { person, page } = await at("phone");
    await visit(page, { path: "/settings" });
    await page.getByLabel("About you").waitFor();
    assert.deepEqual(await faults(page, "light"), []);
    await page.evaluate(() => {
      const planted = document.createElement("p");
      planted.style.width = "500px";
      planted.style.color = "#ddd";
      planted.textContent = "Nobody can read this.";
      document.querySelector("main section").append(planted);
    });
    const found = (await faults(page, "light")).join("\n");
    assert.match(found, /color-contrast/);
    assert.match(found, /wider than the window/);
    await person.close();
  });

  test("before signing in", async () => {
    for (const width of ["wide", "phone"]) {
      const person = await Person.at(s.browser, { width });
      const page = await person.open(s.server.url);
      await page.getByRole("heading", { name: "Sign in to Shoal" }).waitFor();
      for (const theme of ["light", "dark"]) {
        assert.deepEqual(await faults(page, theme), []);
        await picture(page, `sign-in-${theme}-${width}`);
      }
      await person.clean();
      await person.close();
    }
  });
});

/** The operator at a window of some width. */
async function at(width) {
  const { person, page } = await operator(s, { width });
  page.setDefaultTimeout(10_000);
  // The first visit is led to a space, which would replace the page of the first scene.
  await page.waitForURL(/\/spaces\/./);
  return { person, page };
}
