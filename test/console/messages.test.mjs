// What people do with messages that are there: reply, react, edit.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Person } from "./stage/browser.mjs";
import { eventually, go, operator, picture, stage } from "./stage/stage.mjs";

const s = stage();

test("a message is replied to, reacted to and edited where it is", async () => {
  await s.server.at("POST", "/entities", { id: "ada", name: "Ada", kind: "human" });
  await s.server.at("POST", "/spaces", { id: "kitchen", name: "Kitchen", members: ["operator", "ada"] }, { as: "operator" });
  await s.server.says("ada", "kitchen", "Who brings the cups?");
  const { person, page } = await operator(s);
  await go(s, page, "/spaces/kitchen");
  const asked = page.getByRole("article").filter({ hasText: "Who brings the cups?" }).first();

  await asked.hover();
  await asked.getByRole("button", { name: "Reply", exact: true }).click();
  await page.getByRole("button", { name: "Cancel reply" }).waitFor();
  await page.getByRole("textbox", { name: "Message" }).fill("I bring three.");
  await page.keyboard.press("Control+Enter");
  const answer = page.getByRole("article").filter({ hasText: "I bring three." });
  await answer.getByText("in reply to").waitFor({ state: "attached" });
  assert.equal(await page.getByRole("button", { name: "Cancel reply" }).count(), 0);

  await asked.hover();
  await asked.getByRole("button", { name: "React", exact: true }).click();
  await asked.getByRole("button", { name: "React with 👍" }).click();
  const thumb = asked.getByRole("button", { name: /^👍 1: / });
  await thumb.waitFor();
  assert.equal(await thumb.getAttribute("aria-pressed"), "true");

  // What others have said is not edited.
  assert.equal(await asked.getByRole("button", { name: "Edit message" }).count(), 0);
  await answer.hover();
  await answer.getByRole("button", { name: "Edit message" }).click();
  await page.getByRole("textbox", { name: "What it says" }).fill("I bring four.");
  await page.getByRole("button", { name: "Save" }).click();
  const edited = page.getByRole("article").filter({ hasText: "I bring four." });
  await edited.getByText(/^edited/).waitFor();
  await picture(page, "message-edited");

  const [first, second] = (await s.server.at("GET", "/spaces/kitchen/messages")).items;
  assert.deepEqual(first.reactions, [{ emoji: "👍", entityIds: ["operator"] }]);
  assert.equal(second.replyTo, first.id);
  assert.equal(second.parts[0].text, "I bring four.");
  assert.equal((await s.server.at("GET", `/messages/${second.id}/versions`)).items[0].parts[0].text, "I bring three.");

  await thumb.click();
  await eventually("the reaction is taken back", async () => (await s.server.at("GET", `/messages/${first.id}`)).reactions.length === 0);
  await person.clean();
  await person.close();
});

test("the sender sees how far each mention of an agent has got", async () => {
  const { key } = await s.server.call("POST", "/keys", { role: "entity", sessionId: "default", entityId: "scout", name: "scout" });
  await s.server.at("PATCH", "/entities/scout", { name: "Scout" });
  await s.server.at("POST", "/spaces", { id: "harbour", name: "Harbour", members: ["operator", "scout"] }, { as: "operator" });
  const { person, page } = await operator(s);
  await s.server.says("operator", "harbour", "Which ships are in?", { mentions: ["scout"] });
  await go(s, page, "/spaces/harbour");
  const asked = page.getByRole("article").filter({ hasText: "Which ships are in?" });
  await asked.getByText("(not delivered: in its inbox; it reads the message when it next waits)").waitFor({ state: "attached" });

  const wait = () => s.server.at("POST", "/entities/scout/wait", { kind: "mentions", timeoutMs: 0 }, { key });
  await wait();
  await asked.getByText("(delivered: returned to a wait, and not acknowledged yet)").waitFor({ state: "attached" });
  await wait();
  await asked.getByText("(acknowledged)").waitFor({ state: "attached" });
  await s.server.at("POST", "/spaces/harbour/messages", { text: "Two.", mentions: ["operator"] }, { key });
  await asked.getByText("(answered)").waitFor({ state: "attached" });
  await picture(page, "receipts");

  await asked.hover();
  await asked.getByRole("button", { name: "More actions" }).click();
  await page.getByRole("menuitem", { name: "Receipts" }).click();
  const dialog = page.getByRole("dialog", { name: "Receipts" });
  await dialog.getByText(/^Answered .* after/).waitFor();
  await picture(page, "receipts-dialog");
  await person.clean();
  await person.close();
});

test("the owner of a space deletes what somebody else wrote, where spaces have moderators", async () => {
  const { key } = await s.server.call("POST", "/keys", { role: "entity", sessionId: "default", entityId: "mia", kind: "human", name: "mia" });
  await s.server.at("POST", "/entities", { id: "bert", name: "Bert", kind: "human" });
  await s.server.at("POST", "/spaces", { id: "pier", name: "Pier", members: ["mia", "bert"] }, { as: "mia" });
  await s.server.says("bert", "pier", "Buy my boat!");
  const person = await Person.at(s.browser);
  const page = await person.open(s.server.url);
  await page.locator("input[type=password]").fill(key);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("link", { name: "Pier" }).waitFor();
  const said = page.getByRole("article").filter({ hasText: "Buy my boat!" });
  const menu = async () => {
    await go(s, page, "/spaces/pier");
    await said.hover();
    await said.getByRole("button", { name: "More actions" }).click();
    await page.getByRole("menuitem", { name: "Copy link" }).waitFor();
  };

  await menu();
  assert.equal(await page.getByRole("menuitem", { name: "Delete message" }).count(), 0);
  await s.server.call("PATCH", "/sessions/default", { spaceRights: "moderators" });
  await menu();
  await page.getByRole("menuitem", { name: "Delete message" }).click();
  await page.getByRole("button", { name: "Delete it" }).click();
  await page.getByText("This message was deleted.").waitFor();
  assert.notEqual((await s.server.at("GET", "/spaces/pier/messages")).items[0].deletedAt, null);
  await person.clean();
  await person.close();
});
