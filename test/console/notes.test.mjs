// What the pages of an agent and of a run show beside the config: prices, memories and
// goals, tools that were missing.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { axe, overflow } from "./stage/browser.mjs";
import { call, Models } from "./stage/models.mjs";
import { eventually, go, operator, picture, stage } from "./stage/stage.mjs";

const s = stage();
let models;
before(async () => void (models = await Models.start()));
after(() => models?.stop());

test("a model has a price, and what an agent noted is listed and deleted; a run names the tools that were missing", async () => {
  models.play("sage", [
    { toolCalls: [call("setMemories", { memories: [{ topic: "harbour", content: "The harbour closes at ten." }, { topic: "tide", content: "High tide at noon." }] }), call("setGoals", { goals: [{ description: "Learn the tides", isLongTerm: true }] })] },
    { content: "Done." },
  ]);
  await s.server.at("PUT", "/agents/sage", models.agent("Sage", "sage", { mcp: { servers: [{ name: "charts", url: "http://127.0.0.1:1/mcp" }] } }));
  await s.server.at("POST", "/spaces", { id: "cove", name: "Cove", members: ["operator", "sage"] }, { as: "operator" });
  await s.server.says("operator", "cove", "What do you know?");
  const run = await eventually("the run has ended", async () => (await s.server.at("GET", "/runs?agent=sage&status=completed")).items[0]);
  const { person, page } = await operator(s);
  await go(s, page, `/runs/${run.id}`);
  const missing = page.getByRole("region", { name: "Missing tools" });
  await missing.getByText(/charts, all tools \(steps 1–2\)/).waitFor();
  await picture(page, "run-missing-tools");

  await go(s, page, "/agents/sage");
  await page.getByRole("tab", { name: "Model" }).click();
  await page.getByLabel("Input", { exact: true }).or(page.getByLabel("Input (required)", { exact: true })).fill("2.5");
  await page.getByLabel("Output", { exact: true }).or(page.getByLabel("Output (required)", { exact: true })).fill("10");
  await page.getByLabel("Cached input").fill("0.25");
  await picture(page, "agent-price");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Save version 2" }).click();
  await page.getByText("Version 2 is in use.").waitFor();
  assert.deepEqual((await s.server.at("GET", "/agents/sage")).config.model.price, { input: 2.5, output: 10, cachedInput: 0.25 });

  await page.getByRole("tab", { name: "Memory" }).click();
  const memories = page.getByRole("list", { name: "Memories" });
  await memories.getByText("High tide at noon.").waitFor();
  await page.getByRole("list", { name: "Goals" }).getByText("Learn the tides").waitFor();
  await picture(page, "agent-memory");
  await memories.getByRole("listitem").filter({ hasText: "High tide" }).getByRole("button", { name: "Delete this memory" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete", exact: true }).click();
  await eventually("one is left", async () => (await s.server.at("GET", "/agents/sage/memories")).items.map((m) => m.content).join() === "The harbour closes at ten.");
  await eventually("the page shows one", async () => (await memories.getByRole("listitem").count()) === 1);
  await page.getByRole("button", { name: "Delete all goals" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete", exact: true }).click();
  await page.getByText("No goals.").waitFor();
  assert.deepEqual((await s.server.at("GET", "/agents/sage/goals")).items, []);

  const phone = await operator(s, { width: "phone", theme: "dark" });
  for (const [path, shown, name] of [["/agents/sage?tab=memory", "The harbour closes at ten.", "agent-memory-phone-dark"], [`/runs/${run.id}`, "Missing tools", "run-missing-tools-phone-dark"]]) {
    await go(s, phone.page, path);
    await phone.page.getByText(shown).first().waitFor();
    assert.deepEqual(await axe(phone.page), []);
    assert.deepEqual(await overflow(phone.page), []);
    await picture(phone.page, name);
  }
  for (const p of [person, phone.person]) {
    await p.clean();
    await p.close();
  }
});
