// What most stories begin with: a server as the first start makes it, a browser,
// and the operator, signed in by the link that the server printed.
import { after, before } from "node:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { answerTime, kill, launch, Person } from "./browser.mjs";
import { Server } from "./server.mjs";
import { watch } from "./watch.mjs";
import { within } from "./within.mjs";

/** How long a step may take before the story has failed. */
export const patience = 20_000;

/** How long a story may take, with all its steps. */
const storyTime = 120_000;

/** Sets the stage for a file of stories: {server, browser} from their beginning on; `limit` is how many ms may pass without the begin or end of a story. */
export function stage({ limit = storyTime, ...options } = {}) {
  const s = {};
  before(async () => {
    [s.server, s.browser] = await within(storyTime, "starting the server and the browser", Promise.all([Server.start(options), launch()]));
  });
  watch(s, limit);
  after(async () => {
    if (s.browser) await within(answerTime, "closing the browser", s.browser.close()).catch(() => kill(s.browser));
    await s.server?.stop();
  });
  return s;
}

/** The operator at a browser, signed in. */
export async function operator(s, more = {}) {
  const person = await Person.at(s.browser, more);
  const page = await person.open(await s.server.newLink());
  page.setDefaultTimeout(patience);
  // On a phone a first visit begins in a space, with the way to the list.
  await page.getByRole("link", { name: /^All spaces$|welcome/i }).first().waitFor();
  return { person, page };
}

/** Opens a page inside the session `default`. */
export const go = (s, page, path) => page.goto(`${s.server.url}/s/default${path}`);

/** Waits until a condition in the test holds; it only ends a test that has failed. */
export async function eventually(what, condition, limit = patience) {
  const end = Date.now() + limit;
  for (;;) {
    const value = await within(2 * patience, `asking whether ${what}`, condition());
    if (value) return value;
    if (Date.now() > end) throw new Error(`it never came to this: ${what}`);
    await new Promise((r) => setTimeout(r, 50));
  }
}

/** Waits until this element has the focus; the error says which one has it instead. */
export async function focused(field) {
  let instead;
  const hasFocus = async () => (instead = await field.evaluate((e) => (e === document.activeElement ? null : document.activeElement?.outerHTML.slice(0, 200)))) === null;
  await eventually("it has the focus", hasFocus).catch((error) => {
    throw new Error(`the focus of ${field.page().url()} is in ${instead}`, { cause: error });
  });
}

/** Keeps a picture where SHOAL_PICTURES says; nowhere without it. */
export async function picture(page, name) {
  const folder = process.env.SHOAL_PICTURES;
  if (!folder) return;
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`) });
}
