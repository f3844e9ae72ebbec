// Chromium with the page of examples/react-shop, played from outside.
//
//   CHROMIUM=… node page.mjs
//
// The first line that goes out is {"origin": "http://localhost:PORT"}, from where the page comes. Each line that
// comes in is one order:
//
//   {"open": {"url": "…", "key": "…", "space": "…"}}   {"reload": true}   {"send": "…"}   {"click": "Approve"}
//
// each with "until", a text that the page must show then, "gone", one that it must not show, or "button", one that
// it must have. For each goes out one line, with what the page shows: {"texts": ["…"], "cards": ["…"], "faults": []}.
// "picture" names files for pictures of the page in both sizes. The end of the input ends the browser.

import { createServer } from "node:http";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

import { chromium } from "playwright-core";
import { build } from "vite";

const patience = 60_000;
const here = (path) => fileURLToPath(new URL(path, import.meta.url));

// The packages from their sources, and React from here: the example has nothing installed.
const packages = { "@shoal-dev/client": "typescript/src/index.ts", "@shoal-dev/client/live": "typescript/src/live.ts", "@shoal-dev/client/tools": "typescript/src/tools.ts", "@shoal-dev/react": "react/src/index.ts" };
const resolving = {
  name: "packages",
  enforce: "pre",
  resolveId(id) {
    if (packages[id]) return here(`../../clients/${packages[id]}`);
    return /^react(-dom)?(\/|$)/.test(id) ? this.resolve(id, here("page.mjs"), { skipSelf: true }) : undefined;
  },
};
const { output } = await build({ root: here("../../examples/react-shop"), configFile: false, logLevel: "error", plugins: [resolving], build: { write: false, target: "es2023" } });
const files = new Map(output.map((o) => [`/${o.fileName}`, o.type === "chunk" ? o.code : o.source]));

const types = { html: "text/html", js: "text/javascript", css: "text/css" };
const server = createServer((request, response) => {
  const path = request.url === "/" ? "/index.html" : request.url;
  const found = files.get(path);
  response.writeHead(found === undefined ? 404 : 200, { "Content-Type": types[path.split(".").pop()] ?? "text/plain" });
  response.end(found);
});
await new Promise((resolve) => server.listen(0, "localhost", resolve));
const origin = `http://localhost:${server.address().port}`;

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"] });
const page = await browser.newPage();
page.setDefaultTimeout(patience);
let faults = [];
page.on("pageerror", (e) => faults.push(String(e)));

async function play(order) {
  if (order.open) {
    await page.goto("about:blank"); // another # alone loads nothing
    await page.goto(`${origin}/#${new URLSearchParams(order.open)}`);
  }
  if (order.reload) await page.reload();
  if (order.send) {
    await page.getByLabel("Message").fill(order.send);
    await page.getByRole("button", { name: "Send", exact: true }).click();
  }
  if (order.click) await page.getByRole("button", { name: order.click }).click();
  if (order.until) await page.getByText(order.until).first().waitFor();
  if (order.gone) await page.getByText(order.gone).first().waitFor({ state: "detached" });
  if (order.button) await page.getByRole("button", { name: order.button }).first().waitFor();
  if (order.picture) await pictures(order.picture);
}

async function pictures(name) {
  for (const [size, width, height] of [["wide", 1280, 800], ["narrow", 390, 844]]) {
    await page.setViewportSize({ width, height });
    for (const colorScheme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme });
      await page.screenshot({ path: `${name}-${size}-${colorScheme}.png` });
    }
  }
  await page.emulateMedia({ colorScheme: "light" });
}

async function shown() {
  const all = async (selector) => (await page.locator(selector).allInnerTexts()).map((text) => text.replace(/\s+/g, " ").trim());
  return { texts: await all(".bubble"), cards: await all(".card"), faults };
}

process.stdout.write(JSON.stringify({ origin }) + "\n");
for await (const line of createInterface({ input: process.stdin })) {
  faults = [];
  let failed;
  await play(JSON.parse(line)).catch((error) => (failed = String(error)));
  const got = await shown();
  if (failed) got.faults.push(failed);
  process.stdout.write(JSON.stringify(got) + "\n");
}
await browser.close();
server.close();
