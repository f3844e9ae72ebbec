// Signs in to a server over TLS with Chromium, posts, and comes back.
import assert from "node:assert/strict";
import { createRequire } from "node:module";

const { chromium } = createRequire(new URL("../../console/package.json", import.meta.url))("playwright-core");
const { CHROMIUM, SITE, ACCEPTED } = process.env;
const link = process.argv[2];

const browser = await chromium.launch({
  executablePath: CHROMIUM,
  args: [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync",
    `--host-resolver-rules=MAP shoal.example:443 ${SITE}`, `--ignore-certificate-errors-spki-list=${ACCEPTED}`,
  ],
});
try {
  const context = await browser.newContext();
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  const faults = [];
  page.on("pageerror", (e) => faults.push(String(e)));
  page.on("request", (r) => {
    if (!/^(https:\/\/shoal\.example\/|data:|blob:)/.test(r.url())) faults.push(`a request to ${r.url()}`);
  });
  await page.goto(link);
  const message = page.getByRole("textbox", { name: "Message" });
  await message.fill("Hello over TLS");
  await message.press("Enter");
  await page.getByText("Hello over TLS").first().waitFor();

  const [cookie, ...others] = await context.cookies();
  assert.deepEqual(others, []);
  assert.deepEqual({ secure: cookie.secure, httpOnly: cookie.httpOnly, sameSite: cookie.sameSite, domain: cookie.domain }, { secure: true, httpOnly: true, sameSite: "Strict", domain: "shoal.example" });
  assert.match(cookie.name, /^__Host-/);
  assert.equal(await page.evaluate(() => performance.getEntriesByType("navigation")[0].nextHopProtocol), "h2");
  assert.equal(await page.evaluate(() => isSecureContext), true);

  await page.reload();
  await page.getByText("Hello over TLS").first().waitFor();
  assert.deepEqual(faults, []);
} finally {
  await browser.close();
}
