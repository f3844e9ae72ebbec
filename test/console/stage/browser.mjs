// A real Chromium, and what is wrong with every page that it shows: calls to other
// hosts, violations of the page's policy, errors of scripts.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";
import { within } from "./within.mjs";

const axeSource = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const program = process.env.CHROMIUM;
if (!program) throw new Error("CHROMIUM is not set; run these tests with `go test ./test/console`");

/** How wide a window is. */
export const widths = { wide: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } };

/** How many ms the browser has to answer what Playwright sets no limit for. */
export const answerTime = 15_000;

// The process of each browser.
const processes = new WeakMap();

/** Starts a browser. */
export async function launch() {
  const browser = await chromium.launch({
    executablePath: program,
    args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
  });
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send("SystemInfo.getProcessInfo");
  await session.detach();
  processes.set(browser, processInfo.find((p) => p.type === "browser").id);
  return browser;
}

/** Ends a browser that may not answer: all that waits for it fails. */
export async function kill(browser) {
  const gone = new Promise((resolve) => browser.once("disconnected", resolve));
  if (!browser.isConnected()) return;
  process.kill(processes.get(browser), "SIGKILL");
  await gone;
}

// Not a fault of the page: calls that a story lets fail, and Chromium's remark on a
// directive that it does not implement (docs/console.md says what that leaves open).
const harmless = /Failed to load resource|ERR_CONNECTION|net::ERR_|Unrecognized Content-Security-Policy directive 'webrtc'/;

/** Somebody at a browser of their own: a context with its cookies and its faults. */
export class Person {
  /** What new browsers do with service workers. To install one takes a quarter of the CPU time of a page: the stories that need them set "allow". */
  static serviceWorkers = "block";

  static async at(browser, { width = "wide", theme = "light", ...more } = {}) {
    const p = new Person();
    p.context = await browser.newContext({ serviceWorkers: Person.serviceWorkers, viewport: widths[width], colorScheme: theme, reducedMotion: "reduce", ...more });
    p.faults = [];
    p.expected = [];
    await p.context.addInitScript(() => {
      globalThis.violations = [];
      document.addEventListener("securitypolicyviolation", (e) => globalThis.violations.push(`${e.effectiveDirective} ${e.blockedURI} ${e.sourceFile}:${e.lineNumber} ${e.sample}`));
    });
    return p;
  }

  /** A page of this person that opens an address. */
  async open(url) {
    const page = await this.context.newPage();
    const origin = new URL(url).origin;
    page.on("request", (r) => {
      const u = r.url();
      if (!u.startsWith(origin) && !u.startsWith("blob:") && !u.startsWith("data:") && u !== "about:blank") this.faults.push(`a request to ${u}`);
    });
    page.on("pageerror", (e) => this.faults.push(`an error of a script: ${e.stack ?? e}`));
    page.on("dialog", (d) => {
      this.faults.push(`a dialog: ${d.message()}`);
      void d.dismiss();
    });
    page.on("console", (m) => {
      if (m.type() === "error" && !harmless.test(m.text())) this.faults.push(`the page's console: ${m.text()}`);
    });
    await page.goto(url);
    return page;
  }

  /** Fails if anything went wrong on any of the pages. */
  async clean() {
    for (const page of this.context.pages()) {
      for (const v of (await page.evaluate(() => globalThis.violations ?? []).catch(() => []))) this.faults.push(`the policy was violated: ${v}`);
    }
    const unexpected = this.faults.filter((f) => !this.expected.some((e) => e.test(f)));
    assert.deepEqual(unexpected, []);
  }

  /**
   * Closes the pages, and then the context. Chromium drops a close that it gets while the page
   * commits a navigation (crbug.com/536385539), and Playwright waits for it without a limit: so
   * each page is left for an empty one first, and one that is still open after a while is closed
   * by the second request, with its context.
   * A browser that drops this one, too, is killed once; the next story gets another.
   */
  async close() {
    const closed = Promise.all(this.context.pages().map((page) => page.goto("about:blank").catch(() => {}).then(() => page.close())));
    await within(3000, "closing the pages", closed).catch((error) => console.log(`${error.message}; closing the context`));
    await within(answerTime, "closing the context", this.context.close()).catch(async (error) => {
      if (killed++ > 0) throw error;
      console.log(`${error.message}; killing the browser`);
      await kill(this.context.browser());
    });
  }
}

let killed = 0;

// The debugger runs it, in spite of the page's policy.
async function loadAxe(frame) {
  try {
    if (await frame.evaluate(() => globalThis.axe === undefined)) await frame.evaluate(axeSource);
  } catch (error) {
    if (!frame.isDetached()) throw error;
  }
}

/** The violations of WCAG 2.2 AA and of axe's best practices, or of `rules` alone, that axe finds in the open dialog, else on the page. */
export async function axe(page, rules = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]) {
  for (const frame of page.frames()) await within(answerTime, `loading axe into ${frame.url()}`, loadAxe(frame));
  const run = page.evaluate(async (runOnly) => {
    const { violations } = await globalThis.axe.run(document.querySelector("dialog:modal") ?? document, { runOnly, resultTypes: ["violations"] });
    return violations.map((v) => `${v.id} (${v.impact}): ${v.nodes.slice(0, 3).map((n) => `${n.target.join(" ")} ${n.failureSummary.split("\n").slice(1, 3).join(";")}`).join(" | ")}`);
  }, rules);
  return within(3 * answerTime, `axe on ${page.url()}`, run);
}

/** What is wider than the window, the open dialog or the pane that it scrolls in, by its class: nothing should be. */
export const overflow = (page) =>
  page.evaluate(() => {
    const wide = [];
    const name = (e) => `${e.tagName} ${e.className}`;
    const beyond = (root, right) => [...root.querySelectorAll("*")].filter((e) => e.getBoundingClientRect().right > right + 1).slice(0, 5).map(name);
    if (document.documentElement.scrollWidth > innerWidth) wide.push(...beyond(document.body, innerWidth));
    // What scrolls down need not scroll sideways too; what does that on purpose says so.
    for (const pane of (document.querySelector("dialog:modal") ?? document).querySelectorAll(".overflow-y-auto")) {
      if (pane.scrollWidth > pane.clientWidth + 1) wide.push(name(pane), ...beyond(pane, pane.getBoundingClientRect().right));
    }
    return wide;
  });
