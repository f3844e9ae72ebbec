// What has happened in a space is said once, where people look for it.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { call, Models, send } from "./stage/models.mjs";
import { eventually, go, operator, picture, stage } from "./stage/stage.mjs";

const s = stage();
let models;
before(async () => void (models = await Models.start()));
after(() => models?.stop());

const space = (id, members) => s.server.at("POST", "/spaces", { id, name: id, members: ["operator", ...members] }, { as: "operator" });
const failures = (agent, n) => eventually(`${n} runs of ${agent} have failed`, async () => (await s.server.at("GET", `/runs?agent=${agent}&status=failed`)).items.length === n);
/** How often something is said in the column of a page. */
const times = async (page, words) => (await page.getByRole("main").innerText()).split(words).length - 1;

test("why a run failed is said once for each run, with the way to it", async () => {
  // It has no key, so that nobody is asked.
  await s.server.at("PUT", "/agents/keyless", { version: "1.0", agent: { name: "Keyless", system: "x" }, model: { provider: "anthropic", name: "some-model" } });
  await space("failing", ["keyless"]);
  await s.server.says("operator", "failing", "Are you there?");
  await failures("keyless", 1);
  const { person, page } = await operator(s);
  await go(s, page, "/spaces/failing");
  const notice = page.getByRole("article", { name: /^Shoal/ });
  await notice.getByText(/Keyless could not answer/).waitFor();
  const [run] = (await s.server.at("GET", "/runs?agent=keyless")).items;
  await notice.getByRole("link", { name: "Open run" }).waitFor();
  assert.ok((await notice.getByRole("link", { name: "Open run" }).getAttribute("href")).endsWith(run.id));
  assert.equal(await times(page, "Keyless could not answer"), 1);
  await picture(page, "once-failed");

  // The server does not repeat itself: the second message shows it.
  await s.server.says("operator", "failing", "And now?");
  await failures("keyless", 2);
  await page.getByRole("article").filter({ hasText: "And now?" }).getByText(/Keyless could not answer/).waitFor();
  assert.equal(await times(page, "Keyless could not answer"), 2);
  await picture(page, "once-failed-twice");
  await person.close();
});

test("why a run failed is not said again at what it had written", async () => {
  models.play("endless", Array.from({ length: 9 }, (_, i) => ({ toolCalls: [send("deep", `Step ${i + 1}.`)] })));
  await s.server.at("PUT", "/agents/endless", models.agent("Endless", "endless", { loop: { maxSteps: 2, continuation: 0 } }));
  await space("deep", ["endless"]);
  await s.server.says("operator", "deep", "Go on.");
  await failures("endless", 1);
  const { person, page } = await operator(s);
  await go(s, page, "/spaces/deep");
  await page.getByText("Step 2.").waitFor();
  const [run] = (await s.server.at("GET", "/runs?agent=endless")).items;
  await page.getByText(/Endless could not answer/).waitFor();
  await picture(page, "once-failed-later");
  assert.equal(await times(page, run.error.message.replace(/[. ]+$/, "")), 1);
  await person.close();
});

test("the summary of a closed space is said once", async () => {
  await space("done", []);
  await s.server.at("POST", "/spaces/done/close", { summary: "Everything was delivered." }, { as: "operator" });
  const { person, page } = await operator(s);
  await go(s, page, "/spaces/done");
  await page.getByText(/This space is closed/).waitFor();
  await page.getByText(/Space closed: Everything was delivered/).waitFor();
  assert.equal(await times(page, "Everything was delivered."), 1);
  await person.close();
});

test("who denied a call, and why, is said once, also after a reload", async () => {
  const order = { name: "order", description: "Orders.", executionType: "basic", execution: { mode: "pass-through" }, displayTool: true, requiresPermission: true, inputSchema: { type: "object", properties: { sum: { type: "integer" } } } };
  models.play("buyer", [{ toolCalls: [1, 2, 3].map((sum) => call("order", { targetSpaceId: "till", sum })) }, { content: "Done." }]);
  await s.server.at("PUT", "/agents/buyer", models.agent("Buyer", "buyer", { tools: [order] }));
  await s.server.at("POST", "/entities", { id: "ada", kind: "human", name: "Ada Lovelace" });
  await space("till", ["buyer", "ada"]);
  const { person, page } = await operator(s);
  await go(s, page, "/spaces/till");
  await s.server.says("operator", "till", "Order three.");
  const asked = await eventually("three wait", async () => {
    const { items } = await s.server.at("GET", "/pending-actions", undefined, { as: "operator" });
    return items.length === 3 && items;
  });
  const bySum = (sum) => asked.find((p) => p.args.sum === sum).id;
  const answer = (sum, body) => s.server.at("POST", `/pending-actions/${bySum(sum)}/answer`, body, { as: "ada" });
  const cards = page.getByRole("group", { name: "Order", exact: true });
  await eventually("three are shown", async () => (await cards.count()) === 3);
  await answer(1, { approved: false, reason: "Too dear." });
  await answer(2, { approved: false, ask: "Which shop?" });
  const { items: [run] } = await s.server.at("GET", "/runs?agent=buyer");
  for (const again of [false, true]) {
    if (again) await page.reload();
    await eventually("two were answered", async () => (await cards.filter({ hasText: "Ada Lovelace" }).count()) === 2);
    const denied = await cards.filter({ hasText: "Too dear." }).innerText();
    assert.equal(denied.split("Ada Lovelace").length - 1, 1, denied);
    assert.equal(denied.split("Too dear.").length - 1, 1, denied);
    const back = await cards.filter({ hasText: "Which shop?" }).innerText();
    assert.equal(back.split("Ada Lovelace").length - 1, 1, back);
    assert.doesNotMatch(back, /denied/, "a question denies nothing");
    await picture(page, `once-denied-${again}`);
  }
  await s.server.at("POST", `/runs/${run.id}/cancel`, undefined, { as: "operator" });
  const third = cards.filter({ hasText: /canceled/ });
  await third.waitFor();
  await picture(page, "once-canceled");
  const canceled = await third.innerText();
  assert.equal(canceled.split("canceled").length - 1, 1, canceled);
  await person.close();
});
