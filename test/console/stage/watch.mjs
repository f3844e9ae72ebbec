// A time limit for every story: one that waits for something that never comes fails by its
// name and at the line that waits. Of every failure, the output shows what the pages show.
import { afterEach, beforeEach } from "node:test";
import { mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { answerTime, kill, launch } from "./browser.mjs";
import { within } from "./within.mjs";

let pictures = 0;

/** What each page of a browser shows: its address, its first lines, and where its picture is. */
async function shown(browser) {
  const folder = process.env.SHOAL_PICTURES ?? join(tmpdir(), "shoal-console");
  mkdirSync(folder, { recursive: true });
  const pages = browser.contexts().flatMap((context) => context.pages());
  return Promise.all(pages.map(async (page) => {
    const path = join(folder, `failed-${process.pid}-${++pictures}.png`);
    const text = await within(3000, "reading it", page.evaluate(() => document.body.innerText.slice(0, 600))).catch((error) => `(${error.message})`);
    const picture = await within(5000, "its picture", page.screenshot({ path })).then(() => path, (error) => `(${error.message})`);
    return `  ${page.url()}\n  picture: ${picture}\n${text.replace(/^/gm, "    | ")}`;
  }));
}

/**
 * Watches the stories of a file, which may run beside and within each other. If none begins or
 * ends for `ms`, they lose their browser: what they wait for fails at its line, and the next
 * story gets a new one in `s.browser`. If they wait for something else, the file ends.
 */
export function watch(s, ms) {
  const running = [];
  let timer;
  const overdue = async () => {
    const names = running.map((name) => `"${name}"`).join(", ");
    console.log(`no progress within ${ms} ms in ${names}; the pages show:\n${(await shown(s.browser)).join("\n")}`);
    timer = setTimeout(() => {
      console.log(`${names} does not wait for the browser; ending this file`);
      s.server?.process.kill("SIGKILL");
      process.exit(1);
    }, answerTime);
    await kill(s.browser);
  };
  const progress = () => {
    clearTimeout(timer);
    if (running.length > 0) timer = setTimeout(() => void overdue(), ms);
  };
  beforeEach(async (t) => {
    if (!s.browser.isConnected()) s.browser = await launch();
    running.push(t.name);
    progress();
  });
  afterEach(async (t) => {
    running.splice(running.lastIndexOf(t.name), 1);
    progress();
    if (t.passed === false) console.log(`"${t.name}" failed; the pages show:\n${(await shown(s.browser)).join("\n")}`);
  });
}
