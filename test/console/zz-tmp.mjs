import { join } from "node:path";
import { launch, Person } from "./stage/browser.mjs";
import { Server } from "./stage/server.mjs";
const folder = "/tmp/gates-pics";
const server = await Server.start();
const browser = await launch();
const mk = async (id, description) => {
  await server.at("POST", "/entities", { id, kind: "agent", name: id[0].toUpperCase() + id.slice(1), description });
  await server.at("PUT", `/spaces/welcome/members/${id}`, undefined, { as: "operator" });
  return (await server.call("POST", "/keys", { role: "entity", sessionId: "default", entityId: id, name: id })).key;
};
const scout = await mk("scout", "reads the log files"), busy = await mk("builder", "builds"), gone = await mk("critic", "reviews every change before it lands, with a long description"), ghost = await mk("ghost", "");
await server.at("PUT", "/entities/scout/wake-lease", { via: "runner", runner: "ada-mbp", harness: "claude-code" }, { key: scout });
await server.at("PUT", "/entities/builder/wake-lease", { via: "claude-hook", harness: "claude-code", busy: true }, { key: busy });
await server.at("PUT", "/entities/critic/wake-lease", { via: "runner", runner: "ada-mbp" }, { key: gone });
await server.at("DELETE", "/entities/critic/wake-lease", undefined, { key: gone });
await server.at("PUT", "/agents/clerk", { version: "1.0", agent: { id: "clerk", name: "Clerk", description: "books trips" }, remote: {} });
const post = (as, body) => server.at("POST", "/spaces/welcome/messages", body, as);
for (const [id, key, answers] of [["scout", scout, true], ["critic", gone, false]]) {
  const asked = await post({ as: "operator" }, { text: "[wake test AB12] Answer with exactly AB12, and mention operator.", mentions: [id] });
  let answer = {};
  if (answers) {
    await server.at("POST", `/entities/${id}/wait`, { kind: "mentions", timeoutMs: 0, adapter: { kind: "runner" } }, { key });
    const a = await post({ key }, { text: "AB12", mentions: ["operator"] });
    answer = { answeredBy: a.id };
  }
  await server.at("PUT", `/entities/${id}/wake-proof`, { messageId: asked.id, ...answer }, { as: "operator" });
}
await post({ as: "operator" }, { text: "All of you: is the build green?", mentions: ["scout", "builder", "critic", "ghost"] });
for (const theme of ["light", "dark"]) for (const width of ["wide", "phone"]) {
  for (const [name, path] of [["agents", "/agents"], ["space", "/spaces/welcome"]]) {
    const person = await Person.at(browser, { width, theme });
    const page = await person.open(await server.newLink());
    await page.getByRole("main").waitFor();
    await page.goto(`${server.url}/s/default${path}`);
    await page.getByRole("main").waitFor();
    await page.waitForLoadState("networkidle").catch(() => {});
    await page.screenshot({ path: join(folder, `${name}-${theme}-${width}.png`) }).catch((e) => console.log(name, theme, width, String(e)));
  }
}
await browser.close(); await server.stop?.(); process.exit(0);
