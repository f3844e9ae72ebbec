// Permissions that several people give, whose arguments a person edits, that are
// remembered, sent back, or settled together: by people in browsers, on the real server.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { axe, overflow, Person } from "./stage/browser.mjs";
import { call, Models, send, used } from "./stage/models.mjs";
import { eventually, go, operator, patience, picture, stage } from "./stage/stage.mjs";

const s = stage();
let models, ops, page;
before(async () => void (models = await Models.start()));
after(() => models?.stop());

const schema = { type: "object", properties: { sum: { type: "integer", minimum: 1, title: "Sum" }, to: { type: "string", title: "To" } }, required: ["sum", "to"] };
const pay = (more = {}) => ({ name: "pay", description: "Pays.", executionType: "basic", execution: { mode: "pass-through" }, displayTool: true, requiresPermission: true, inputSchema: schema, ...more });

/** An agent in a space of its own that makes the calls for each message, then posts their results. */
async function payer(id, calls, tool = pay()) {
  models.mock.addFixture({
    match: { predicate: (r) => r.model === id },
    response: ({ messages }) => {
      const since = messages.slice(messages.findLastIndex((m) => m.role === "user") + 1).filter((m) => m.role === "tool");
      if (since.length < calls.length) return { usage: used, toolCalls: calls.map((c) => call("pay", { targetSpaceId: id, ...c })) };
      if (since.length === calls.length) return { usage: used, toolCalls: [send(id, `I read: ${since.map((m) => m.content).join(" | ")}`)] };
      return { usage: used, content: "Done." };
    },
  });
  await s.server.at("PUT", `/agents/${id}`, models.agent(`Agent ${id}`, id, { tools: [tool] }));
  await s.server.at("POST", "/spaces", { id, name: `Space ${id}`, members: ["operator", "ada", "uma", id] }, { as: "operator" });
}

/** Somebody at a browser with the key of an entity. */
async function someone(entity, more = {}) {
  const { key } = await s.server.call("POST", "/keys", { role: "entity", sessionId: "default", entityId: entity, name: entity });
  const person = await Person.at(s.browser, more);
  const at = await person.open(s.server.url);
  at.setDefaultTimeout(patience);
  await at.getByLabel("Your key").fill(key);
  await at.keyboard.press("Enter");
  await at.getByLabel("Your key").waitFor({ state: "detached" });
  return { person, page: at };
}

const payments = async (space) => (await s.server.at("GET", `/spaces/${space}/messages`)).items.flatMap((m) => m.parts).filter((p) => p.toolName === "pay");
const waiting = async (agent) => (await s.server.at("GET", "/pending-actions", undefined, { as: "uma" })).items.filter((p) => p.agentId === agent);
const sound = async (at) => {
  assert.deepEqual(await axe(at), []);
  assert.deepEqual(await overflow(at), []);
};

describe("a permission", () => {
  before(async () => {
    for (const [id, name] of [["ada", "Ada"], ["uma", "Uma"]]) await s.server.at("POST", "/entities", { id, kind: "human", name });
    ({ person: ops, page } = await operator(s));
  });
  after(async () => {
    await ops?.clean();
    await ops?.close();
  });

  test("two people approve, and each sees live who has voted and how many are missing", async () => {
    await payer("vault", [{ sum: 5, to: "Kiel" }], pay({ answer: { by: ["humans"], quorum: 2, notRequester: true } }));
    await s.server.says("ada", "vault", "Pay it.");
    const [uma, ada] = [await someone("uma", { width: "phone", theme: "dark" }), await someone("ada")];
    await go(s, ada.page, "/spaces/vault");
    await ada.page.getByText("It waits for somebody who may answer it.").waitFor();
    assert.equal(await ada.page.getByRole("button", { name: "Approve", exact: true }).count(), 0, "who asked for it does not answer it");
    for (const p of [uma.page, page]) {
      await go(s, p, "/spaces/vault");
      await p.getByText("0 of 2 approvals").waitFor();
      await p.getByText(/Asked for by .*; somebody else has to answer/).waitFor();
      assert.equal(await p.getByLabel("Remember this choice").count(), 0, "a decision of several is not remembered");
    }
    await uma.page.getByRole("button", { name: "Approve", exact: true }).click();
    await uma.page.getByText("Vote recorded").waitFor();
    await uma.page.getByText("1 of 2 approvals").waitFor();
    await page.getByText("1 of 2 approvals").waitFor();
    await page.getByText(/Uma approved/).waitFor();
    await page.getByText("1 missing, 1 participant can still vote").waitFor();
    await sound(uma.page);
    await picture(uma.page, "approvals-votes-phone-dark");
    await picture(page, "approvals-votes");
    await uma.page.reload();
    await uma.page.getByRole("button", { name: "Change your vote" }).waitFor();

    await go(s, page, "/approvals");
    await page.getByText("People in the space, but not the requesters (Ada).").waitFor();
    await sound(page);
    await picture(page, "approvals-votes-inbox");
    await page.getByRole("button", { name: "Approve", exact: true }).click();
    await eventually("it is paid", async () => (await payments("vault"))[0]?.status === "done");
    await uma.page.getByText(/(Uma|You) and Operator approved/).waitFor();
    for (const p of [uma.person, ada.person]) {
      await p.clean();
      await p.close();
    }
  });

  test("arguments are edited, checked and approved; everybody sees what ran", async () => {
    await payer("shop", [{ sum: 500, to: "Kiel" }]);
    await go(s, page, "/spaces/shop");
    await s.server.says("operator", "shop", "Pay it.");
    await page.getByRole("button", { name: "Edit and approve" }).click();
    await page.getByLabel("Sum").fill("0");
    await page.getByRole("button", { name: "Approve with changes" }).click();
    await page.getByText("Must be at least 1").waitFor();
    await picture(page, "approvals-edit");
    await page.getByLabel("Sum").fill("50");
    await page.getByRole("button", { name: "Edit as JSON" }).click();
    assert.deepEqual(JSON.parse(await page.getByLabel("Arguments as JSON").inputValue()), { sum: 50, to: "Kiel" });
    await page.getByLabel("Arguments as JSON").fill('{"sum": 50, "to": 7}');
    await page.getByRole("button", { name: "Approve with changes" }).click();
    await page.getByText(/to: .*string/).waitFor();
    await page.getByLabel("Arguments as JSON").fill('{"sum": 50, "to": "Kiel"}');
    await page.getByRole("button", { name: "Approve with changes" }).click();
    const paid = await eventually("it is paid", async () => (await payments("shop")).find((p) => p.status === "done"));
    assert.deepEqual([paid.args.sum, paid.editedArgs, paid.result.sum], [500, { sum: 50, to: "Kiel" }, 50]);
    await page.getByRole("region", { name: "Edited arguments" }).getByText("50", { exact: true }).waitFor();
    await page.getByText(/^You approved\s+with changes/).waitFor();
    await sound(page);
    await picture(page, "approvals-edited");
  });

  test("a call is sent back with a question that the agent reads", async () => {
    await payer("back", [{ sum: 5, to: "Kiel" }]);
    await go(s, page, "/spaces/back");
    await s.server.says("operator", "back", "Pay it.");
    await page.getByRole("button", { name: "Ask a question" }).click();
    await page.getByLabel("Your question").fill("Which invoice is it for?");
    await picture(page, "approvals-ask");
    await page.getByRole("button", { name: "Send back" }).click();
    await page.getByText(/I read:.*has not decided and asks: Which invoice is it for\?/).waitFor();
    assert.notEqual((await payments("back"))[0].status, "done");
  });

  test("equal open calls are settled in one step", async () => {
    await payer("twins", [{ sum: 5, to: "Kiel" }, { sum: 5, to: "Kiel" }, { sum: 6, to: "Kiel" }]);
    await go(s, page, "/spaces/twins");
    await s.server.says("operator", "twins", "Pay them.");
    const also = page.getByLabel("Also answer the other identical call");
    await also.first().check();
    await picture(page, "approvals-equal");
    await page.getByRole("button", { name: "Approve", exact: true }).first().click();
    await eventually("both are settled and the third is not", async () => {
      const open = await waiting("twins");
      return open.length === 1 && open[0].args.sum === 6;
    });
    await eventually("one is left to approve", async () => (await page.getByRole("button", { name: "Approve", exact: true }).count()) === 1);
  });

  test("a decision is remembered, listed and revoked; the next call asks again", async () => {
    await payer("habit", [{ sum: 5, to: "Kiel" }]);
    await go(s, page, "/spaces/habit");
    const ended = (n) => eventually(`${n} runs have ended`, async () => (await s.server.at("GET", "/runs?agent=habit&status=completed")).items.length === n);
    await s.server.says("operator", "habit", "Pay it.");
    await page.getByLabel("Remember this choice").selectOption({ label: "Calls with the same arguments" });
    await page.getByLabel("For", { exact: true }).selectOption({ label: "7 days" });
    await picture(page, "approvals-remember");
    await page.getByRole("button", { name: "Approve and remember" }).click();
    await ended(1);
    await s.server.says("operator", "habit", "And again.");
    await ended(2);
    assert.deepEqual((await payments("habit")).map((p) => p.status), ["done", "done"]);

    await go(s, page, "/approvals");
    await page.getByRole("link", { name: "Remembered" }).click();
    const row = page.getByRole("listitem").filter({ hasText: "Agent habit" });
    await row.getByText("with these arguments:").waitFor();
    await sound(page);
    await picture(page, "approvals-remembered");
    await row.getByRole("button", { name: "Revoke" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
    await page.getByText("No remembered decisions").waitFor();

    await s.server.says("operator", "habit", "Once more.");
    await eventually("somebody is asked again", async () => (await waiting("habit")).length === 1);
    const phone = await operator(s, { width: "phone", theme: "dark" });
    await go(s, phone.page, "/spaces/habit");
    await phone.page.getByLabel("Remember this choice").selectOption({ label: "Calls with any arguments" });
    await sound(phone.page);
    await picture(phone.page, "approvals-remember-phone-dark");
    await phone.page.getByRole("button", { name: "Deny and remember" }).click();
    await ended(3);
    await go(s, phone.page, "/approvals?show=remembered");
    await phone.page.getByText("with any arguments").waitFor();
    await sound(phone.page);
    await picture(phone.page, "approvals-remembered-phone-dark");
    await phone.person.clean();
    await phone.person.close();
  });
});

test("a guest and an auditor are offered what the server does for them, and a new role shows at once", async () => {
  await s.server.at("POST", "/entities", { id: "gil", kind: "human", name: "Gil", sessionRole: "guest" });
  await s.server.at("POST", "/entities", { id: "aud", kind: "human", name: "Aud", sessionRole: "auditor" });
  for (const id of ["ada", "uma"]) await s.server.at("POST", "/entities", { id, kind: "human", name: id }).catch(() => undefined);
  await payer("till", [{ sum: 900, to: "the school" }]);
  await s.server.at("PUT", "/spaces/till/members/gil", undefined, { as: "operator" });
  const offered = (at, ...names) => Promise.all(names.map((name) => at.getByRole("button", { name, exact: true }).count()));

  const guest = await someone("gil");
  await go(s, guest.page, "/spaces/till");
  await guest.page.getByRole("textbox", { name: "Message" }).waitFor();
  await s.server.says("ada", "till", "Pay the school, please.");
  await guest.page.getByText("Your role in this session does not decide on permissions.").waitFor();
  await guest.page.getByRole("tab", { name: /^Members/ }).waitFor();
  assert.deepEqual(await offered(guest.page, "Approve", "Deny", "Add members", "Invite a person", "New space", "Remove Uma"), [0, 0, 0, 0, 0, 0]);
  await guest.page.getByRole("button", { name: "More about this space" }).click();
  assert.deepEqual(await guest.page.getByRole("menuitem").allTextContents(), ["Mute", "Pin", "Leave"]);
  await guest.page.keyboard.press("Escape");
  await sound(guest.page);
  await picture(guest.page, "role-guest");

  // Uma's role allows to approve, but the policy of this tool names somebody else.
  await payer("safe", [{ sum: 5, to: "Kiel" }], pay({ answer: { by: ["operator"] } }));
  const other = await someone("uma");
  await go(s, other.page, "/spaces/safe");
  await other.page.getByRole("textbox", { name: "Message" }).waitFor();
  await s.server.says("ada", "safe", "Pay it.");
  await other.page.getByText("It waits for somebody who may answer it.").waitFor();
  assert.deepEqual(await offered(other.page, "Approve", "Deny"), [0, 0]);
  await sound(other.page);
  await picture(other.page, "role-not-asked");

  const auditor = await someone("aud");
  await go(s, auditor.page, "/spaces/till");
  await auditor.page.getByText("Read-only: your role in this session does not allow to write.").waitFor();
  await auditor.page.getByText("Your role in this session does not decide on permissions.").waitFor();
  assert.deepEqual(await offered(auditor.page, "Approve", "React", "Reply", "Stop", "Join to write", "New space"), [0, 0, 0, 0, 0, 0]);
  await sound(auditor.page);
  await picture(auditor.page, "role-auditor");
  await go(s, auditor.page, "/agents/till");
  await auditor.page.getByText("Read-only: your role does not change agents.").waitFor();
  assert.ok(await auditor.page.getByRole("tabpanel").getByRole("textbox").first().isDisabled());
  await sound(auditor.page);
  await picture(auditor.page, "role-auditor-agent");
  for (const [path, seen] of [["/agents", "Agent till"], ["/settings?tab=members", "Gil"], ["/settings?tab=keys", "gil"]]) {
    await go(s, auditor.page, path);
    await auditor.page.getByRole("main").getByText(seen).first().waitFor();
    assert.deepEqual(await offered(auditor.page, "New agent", "Add a participant", "Invite a person", "Edit Gil", "Delete Gil", "Create a key", "Revoke gil"), [0, 0, 0, 0, 0, 0, 0], path);
    await sound(auditor.page);
  }

  await s.server.at("PATCH", "/entities/gil", { sessionRole: "member" });
  await guest.page.getByRole("button", { name: "Add members" }).first().waitFor();
  await guest.page.getByRole("button", { name: "Approve", exact: true }).waitFor();
  for (const { person } of [guest, auditor, other]) {
    await person.clean();
    await person.close();
  }
});
