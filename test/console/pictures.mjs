// Makes the pictures of the README from the running console:
//
//	SHOAL_BIN=bin/shoal CHROMIUM=/usr/bin/chromium node test/console/pictures.mjs docs/pictures
//
// `make pictures` does it. The story is the one of the first start, which needs no key.
import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { launch, Person } from "./stage/browser.mjs";
import { Server } from "./stage/server.mjs";

const folder = resolve(process.argv[2] ?? "docs/pictures");
mkdirSync(folder, { recursive: true });

const server = await Server.start();
const browser = await launch();

async function someone(more) {
  const person = await Person.at(browser, { width: "wide", deviceScaleFactor: 1.5, ...more });
  const page = await person.open(await server.newLink());
  await page.getByRole("main").waitFor();
  return page;
}
const go = (page, path) => page.goto(`${server.url}/s/default${path}`);
const take = async (page, name) => {
  await page.mouse.move(0, 0);
  await page.screenshot({ path: join(folder, `${name}.png`) });
  process.stdout.write(`${name}.png\n`);
};

await server.at("POST", "/entities", { id: "ada", kind: "human", name: "Ada" });
await server.at("POST", "/entities", { id: "scout", kind: "agent", name: "Scout", description: "reads the log files" });
await server.at("PUT", "/spaces/welcome/members/ada", undefined, { as: "operator" });
await server.at("PUT", "/spaces/welcome/members/scout", undefined, { as: "operator" });
const { key } = await server.call("POST", "/keys", { role: "entity", sessionId: "default", entityId: "scout", name: "scout" });
const waiting = server.at("POST", "/entities/scout/wait", { kind: "mentions", timeoutMs: 120_000 }, { key }).catch(() => undefined);

const light = await someone({ theme: "light" });
await server.says("ada", "welcome", "Mine is broken. I need a laptop for the train: light, and it should last a day.", { mentions: ["shop-agent"] });
await go(light, "/spaces/welcome");
await light.getByText("Lark Pro 16").waitFor();
await light.getByRole("button", { name: "Choose" }).last().waitFor();
await take(light, "space");

await light.getByRole("button", { name: "Choose" }).first().click();
await light.getByRole("link", { name: "Review request" }).click();
await light.getByRole("button", { name: "Approve", exact: true }).waitFor();
await light.getByText("Lark Air 13").first().waitFor();
await take(light, "approvals");
await light.getByRole("button", { name: "Approve", exact: true }).click();
await light.getByText("Nothing is waiting for you").waitFor();

const [run] = (await server.at("GET", "/runs")).items;
const dark = await someone({ theme: "dark" });
await go(dark, `/runs/${run.id}`);
await dark.getByText("placeOrder").first().waitFor();
await take(dark, "run");

const phone = await someone({ theme: "dark", width: "phone" });
await go(phone, "/spaces/welcome");
await phone.getByText("your laptop is ordered").waitFor();
await take(phone, "phone");

await server.says("ada", "welcome", "Thanks, everybody.", { mentions: ["scout"] });
await waiting;
await browser.close();
await server.stop();
