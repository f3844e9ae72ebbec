// A real Chromium, and what is wrong with every page that it shows: calls to other
// hosts, violations of the page's policy, errors of scripts.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";

const axeSource = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const program = process.env.CHROMIUM;
if (!program) throw new Error("CHROMIUM is not set; run these tests with `go test ./test/console`");

/** How wide a window is. */
export const widths = { wide: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } };

/** Starts a browser. */
export const launch = () =>
  chromium.launch({
    executablePath: program,
    args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
  });

// Not a fault of the page: calls that a story lets fail, and Chromium's remark on a
// directive that it does not implement (docs/console.md says what that leaves open).
const harmless = /Failed to load resource|ERR_CONNECTION|net::ERR_|Unrecognized Content-Security-Policy directive 'webrtc'/;

/** Somebody at a browser of their own: a context with its cookies and its faults. */
export class Person {
  static async at(browser, { width = "wide", theme = "light", ...more } = {}) {
    const p = new Person();
    p.context = await browser.newContext({ viewport: widths[width], colorScheme: theme, reducedMotion: "reduce", ...more });
    p.faults = [];
    p.expected = [];
    // Put into each page by the debugger, which the page's policy does not bind.
    await p.context.addInitScript({ content: axeSource });
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

  /** Leaves every page and closes the context. */
  async close() {
    // Chromium 156 never answers when a context is disposed of while a shared worker of
    // it starts, so the pages are left first: their workers end with them.
    for (const page of this.context.pages()) await page.goto("about:blank").catch(() => {});
    await this.context.close();
  }
}

/** The violations of WCAG 2.2 AA and of axe's best practices, or of `rules` alone, that axe finds in the open dialog, else on the page. */
export async function axe(page, rules = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]) {
  return page.evaluate(async (runOnly) => {
    const { violations } = await globalThis.axe.run(document.querySelector("dialog:modal") ?? document, { runOnly, resultTypes: ["violations"] });
    return violations.map((v) => `${v.id} (${v.impact}): ${v.nodes.slice(0, 3).map((n) => `${n.target.join(" ")} ${n.failureSummary.split("\n").slice(1, 3).join(";")}`).join(" | ")}`);
  }, rules);
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
