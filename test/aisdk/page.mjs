// Chromium with a page, page.jsx or assistant.jsx, played from outside.
//
//   CHROMIUM=… node page.mjs page.jsx
//
// The first line that goes out is {"origin": "http://localhost:PORT"}, from where the page comes. Each line that
// comes in is one order:
//
//   {"open": {"api": "…", "key": "…"}}   {"reload": true}   {"send": "…"}   {"click": "Approve"}
//
// each with "until", a text that the page must show then, and "status", the status of its chat. For each goes out
// one line, with what the page shows: {"texts": ["…"], "tools": ["…"], "status": "ready", "alert": "", "faults": []}.
// The end of the input ends the browser.

import { createServer } from "node:http";
import { createInterface } from "node:readline";

import { build } from "esbuild";
import { chromium } from "playwright-core";

const patience = 30_000;

const bundle = await build({ entryPoints: [process.argv[2]], bundle: true, write: false, format: "esm", jsx: "automatic", minify: true, define: { "process.env.NODE_ENV": '"production"' } });
const html = '<!doctype html><title>Chat</title><div id="root"></div><script type="module" src="/page.js"></script>';
const server = createServer((request, response) => {
  const script = request.url === "/page.js";
  response.writeHead(200, { "Content-Type": script ? "text/javascript" : "text/html" });
  response.end(script ? bundle.outputFiles[0].text : html);
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
    await page.goto(`${origin}/#${encodeURIComponent(JSON.stringify(order.open))}`);
  }
  if (order.reload) await page.reload();
  if (order.send) {
    await page.getByLabel("Message").fill(order.send);
    await page.getByRole("button", { name: "Send" }).click();
  }
  if (order.click) await page.getByRole("button", { name: order.click }).click();
  if (order.until) await page.getByText(order.until).first().waitFor();
  if (order.status) await page.locator("output", { hasText: order.status }).waitFor();
}

async function shown() {
  const all = (selector) => page.locator(selector).allInnerTexts();
  const [texts, tools, status, alert] = await Promise.all([all("p"), all(".tool"), all("output"), all("[role=alert]")]);
  return { texts, tools, status: status[0], alert: alert[0], faults };
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
