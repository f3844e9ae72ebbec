// Every form that a result's schema can ask for: a person fills it in by its labels,
// and what is stored on the server is compared letter by letter, so that a number
// stays a number, and one with many digits keeps them all.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { call, Models, send, used } from "./stage/models.mjs";
import { eventually, go, operator, picture, stage } from "./stage/stage.mjs";

const text = { type: "string" };
const whole = { type: "integer" };
const flag = { type: "boolean" };
const object = (properties, ...required) => ({ type: "object", properties, required });
const list = (items, more = {}) => ({ type: "array", items, ...more });

// What a person does in a card, by the visible labels.
const named = (label) => (label instanceof RegExp ? label : new RegExp(`^${label.replace(/\W/g, "\\$&")}( \\(optional\\))?$`));
const fieldOf = (card, label) => card.getByRole("textbox", { name: named(label) }).or(card.getByRole("combobox", { name: named(label) }));
const fill = (label, value) => (card) => fieldOf(card, label).fill(value);
const choose = (label, value) => (card) => fieldOf(card, label).selectOption(typeof value === "string" ? { label: value } : value);
const press = (name) => (card) => card.getByRole("button", { name, exact: true }).click();
const answer = press("Answer");
/** Steps inside of a group of fields. */
const group = (name, ...steps) => async (card) => {
  for (const step of steps) await step(card.getByRole("group", { name: named(name) }));
};
/** Adds items to a list: each is what is typed, or chosen. */
const items = (name, ...values) => group(name, ...values.flatMap((v, i) => [press("Add"), v(`${name} ${i + 1}`)]));
const typed = (value) => (label) => fill(label, value);
const chosen = (value) => (label) => choose(label, value);
/** Says that a field has no value. */
const without = (label) => async (card) => {
  await fieldOf(card, label).locator("xpath=../..").getByRole("checkbox", { name: "No value" }).check();
  await card.getByText(`${label}: no value`).waitFor();
};

// A number that no script can hold; it is written into the config as it is.
const exactly = "exactly 9007199254740993";
const sku = object({ sku: text, count: whole }, "sku");

/** A schema, what is done, and the result as JSON text, its members in the order of the schema, which the server keeps by name; `wrong` is what is tried first and where it is refused. */
const asks = {
  words: {
    schema: object({ fullName: text, mail: { type: "string", format: "email" }, site: { type: "string", format: "uri" }, day: { type: "string", format: "date" }, at: { type: "string", format: "date-time" }, clock: { type: "string", format: "time" }, notes: { type: "string", format: "multiline" }, digits: text, left: text }, "fullName"),
    steps: [fill("Full name", 'Ünal "Ö" <b>'), fill("Mail", "ada@example.org"), fill("Site", "https://example.org/?a=1&b=2"), fill("Day", "2026-11-22"), fill(/^At/, "2026-11-22T09:00:00Z"), fill("Clock", "09:30"), fill("Notes", "one\ntwo"), fill("Digits", "0012"), answer],
    result: '{"at":"2026-11-22T09:00:00Z","clock":"09:30","day":"2026-11-22","digits":"0012","fullName":"Ünal \\"Ö\\" <b>","mail":"ada@example.org","notes":"one\\ntwo","site":"https://example.org/?a=1&b=2"}',
    wrong: [],
  },
  figures: {
    schema: object({ price: { type: "number", multipleOf: 0.25 }, count: whole, serial: whole, tiny: { type: "number" }, below: whole }, "price", "count", "serial"),
    steps: [fill("Price", "12.50"), fill("Count", "7"), fill("Serial", "9007199254740993"), fill("Tiny", "1e-7"), fill("Below", "-3"), answer],
    result: '{"below":-3,"count":7,"price":12.50,"serial":9007199254740993,"tiny":1e-7}',
    wrong: [[[fill("Price", "12.3"), fill("Count", "7"), fill("Serial", "1")], "Price", /multiple of 0.25/], [[fill("Price", "12.50"), fill("Count", "7.5")], "Count", /whole number/], [[fill("Count", "seven")], "Count", /number/], [[fill("Count", "")], "Count", /Required/]],
  },
  consent: {
    schema: object({ express: flag, insured: flag, gift: flag }, "express", "insured"),
    steps: [choose("Express", "Yes"), choose("Insured", "No"), answer],
    result: '{"express":true,"insured":false}',
    wrong: [[[choose("Express", "Yes")], "Insured", /yes or no/i]],
  },
  choices: {
    schema: object({ size: { enum: ["S", "M", "L"] }, port: { enum: [1, "1", true, null] }, screen: { oneOf: [{ const: 13, title: "small" }, { const: 16.5, title: "large" }] }, kind: { const: "order" }, colour: { anyOf: [{ const: "r", title: "Red" }, { const: "g", title: "Green" }] } }, "size", "port", "screen", "kind"),
    steps: [choose("Size", "M"), choose("Port", { index: 1 }), choose("Screen", "large"), choose("Colour", "Green"), answer],
    result: '{"colour":"g","kind":"order","port":1,"screen":16.5,"size":"M"}',
    wrong: [[[choose("Size", "M")], "Port", /Choose one/]],
  },
  nothing: {
    schema: object({ nick: { type: ["string", "null"] }, floor: { anyOf: [whole, { type: "null" }] }, ready: { type: ["boolean", "null"] }, lift: { oneOf: [{ type: "null" }, flag] } }, "nick", "floor", "ready", "lift"),
    steps: [without("Nick"), fill("Floor", "0"), choose("Ready", "No"), without("Lift"), answer],
    result: '{"floor":0,"lift":null,"nick":null,"ready":false}',
    wrong: [[[fill("Floor", "0")], "Nick", /Required/]],
  },
  lists: {
    schema: object({ tags: list(text, { minItems: 1 }), scores: list({ type: "number", exclusiveMinimum: 0 }), flags: list(flag), sizes: list({ enum: [1, 2] }), none: list(text) }, "tags", "none"),
    steps: [items("Flags", chosen("No")), items("Sizes", chosen("2")), fill("Scores 2", "20"), answer],
    result: '{"flags":[false],"none":[],"scores":[1.0,20],"sizes":[2],"tags":["a,b"]}',
    wrong: [[[], (card) => card.getByRole("group", { name: "Tags" }), /At least 1/], [[items("Tags", typed("a,b"), typed("")), items("Scores", typed("1.0"), typed("-2"))], "Tags 2", /Required/], [[press("Remove Tags 2")], "Scores 2", /more than 0/]],
  },
  nested: {
    schema: object({ person: object({ name: text, home: object({ street: text, geo: object({ lat: { type: "number" } }) }, "street") }, "name", "home"), spare: object({ zip: text }, "zip") }, "person"),
    steps: [fill("Name", "Ada"), fill("Street", "Kai 1"), fill(/^Geo/, '{"lat": 54.10}'), answer],
    result: '{"person":{"home":{"geo":{"lat":54.10},"street":"Kai 1"},"name":"Ada"}}',
    wrong: [[[fill("Name", "Ada"), fill("Street", "Kai 1"), fill(/^Geo/, '{"lat": "north"}')], /^Geo/, /lat.*must be/], [[fill(/^Geo/, "lat")], /^Geo/, /Invalid JSON/]],
  },
  referred: {
    schema: { $defs: { zip: { type: "string", pattern: "^[0-9]{5}$", title: "Postcode" }, place: object({ zip: { $ref: "#/$defs/zip" } }, "zip") }, ...object({ from: { $ref: "#/$defs/place" }, to: { $ref: "#/$defs/place" } }, "from", "to") },
    steps: [group("From", fill("Postcode", "01067")), group("To", fill("Postcode", "24103")), answer],
    result: '{"from":{"zip":"01067"},"to":{"zip":"24103"}}',
    wrong: [[[group("From", fill("Postcode", "01067")), group("To", fill("Postcode", "Kiel"))], (card) => fieldOf(card.getByRole("group", { name: "To" }), "Postcode"), /pattern/]],
  },
  oddNames: {
    schema: object({ "street name": { type: "string", pattern: "^K" }, "größe": { type: "integer", multipleOf: 2 }, "a.b": { type: "string", pattern: "^x" }, "<i>": object({ "c[0]": { type: "string", pattern: "^y" } }, "c[0]") }, "street name", "größe"),
    steps: [fill("street name", "Kai"), fill("größe", "4"), fill("a.b", "x"), fill("c[0]", "y"), answer],
    result: '{"<i>":{"c[0]":"y"},"a.b":"x","größe":4,"street name":"Kai"}',
    wrong: [[[fill("street name", "Weg"), fill("größe", "4"), fill("a.b", "x"), fill("c[0]", "y")], "street name", /pattern/], [[fill("street name", "Kai"), fill("größe", "3")], "größe", /multiple/], [[fill("größe", "4"), fill("a.b", "y")], "a.b", /pattern/], [[fill("a.b", "x"), fill("c[0]", "x")], "c[0]", /pattern/]],
  },
  typedJson: {
    schema: object({ lines: list(sku, { minItems: 1 }) }, "lines"),
    steps: [fill("Lines", '[{"sku": "A-1", "count": 9007199254740993}]'), answer],
    result: '{"lines":[{"sku":"A-1","count":9007199254740993}]}',
    wrong: [[[fill("Lines", '[{"sku": "A-1", "count": "2"}]')], "Lines", /count.*integer/], [[fill("Lines", '[{"sku": 1},]')], "Lines", /Invalid JSON/]],
  },
  serials: {
    schema: object({ serial: { enum: [exactly, 2] }, next: { type: "integer", default: exactly } }, "serial"),
    steps: [fill("Serial", "9007199254740993"), answer],
    result: '{"serial":9007199254740993}',
    wrong: [],
  },
  plain: { schema: { type: "string", minLength: 2 }, steps: [fill("Answer", "yes"), answer], result: '"yes"', wrong: [[[fill("Answer", "y")], "Answer", /2 characters/]] },
  sure: { schema: object({ sure: flag }, "sure"), steps: [press("Sure: no")], result: '{"sure":false}', wrong: [] },
  pick: { schema: object({ size: { enum: [1, "1", "two"] } }, "size"), steps: [(card) => card.getByRole("button", { name: "1", exact: true }).first().click()], result: '{"size":1}', wrong: [] },
  bare: { schema: flag, steps: [press("Yes")], result: "true", wrong: [] },
  seen: { steps: [press("OK")], result: '{"acknowledged":true}', wrong: [] },
  byHand: { schema: object({ sure: flag }, "sure"), steps: [fill("Result as JSON", '{"sure": true, "big": 12345678901234567890}'), answer], result: '{"sure":true,"big":12345678901234567890}', wrong: [[[press("More ways to answer"), press("Answer with JSON"), fill("Result as JSON", '{"sure": 1}')], "Result as JSON", /sure.*boolean/]] },
};

const s = stage();
let models, person, page;
before(async () => void (models = await Models.start()));
after(() => models?.stop());

const tools = Object.entries(asks).map(([name, { schema }]) => ({
  name, description: `Asks for ${name}.`, executionType: "basic", execution: { mode: "no-execution" }, displayTool: true, inputSchema: object({}), ...(schema && { outputSchema: schema }),
}));

/** An agent that calls the tool which the newest message names, and ends. */
async function clerk() {
  models.mock.addFixture({
    match: { predicate: (r) => r.model === "clerk" },
    response: ({ messages }) => {
      const lastUser = messages.findLastIndex((m) => m.role === "user");
      const name = [...JSON.stringify(messages[lastUser]).matchAll(/ask:(\w+)/g)].at(-1)[1];
      return { usage: used, ...(lastUser < messages.length - 1 ? { content: "Thank you." } : { toolCalls: [call(name, { targetSpaceId: "desk" })] }) };
    },
  });
  await s.server.at("PUT", "/agents/clerk", JSON.stringify(models.agent("Clerk", "clerk", { tools })).replaceAll(/"exactly (\d+)"/g, "$1"));
  await s.server.at("POST", "/spaces", { id: "desk", name: "Desk", members: ["operator", "clerk"] }, { as: "operator" });
}

/** The card of a tool: what the button folds that ends with its name. */
async function cardOf(name) {
  const button = page.getByRole("article").getByRole("button", { name: new RegExp(`(^| )${name}$`) }).last();
  const folded = await button.getAttribute("aria-controls");
  return page.locator(`[id="${folded}"]`);
}

const pendings = async (query = "") => (await s.server.at("GET", `/pending-actions${query}`, undefined, { as: "operator" })).items;
const waiting = (name) => pendings().then((all) => all.find((p) => p.toolName === name));

/** The text of a call's result, as the server sends it. */
async function stored(name) {
  const sent = await fetch(`${s.server.url}/v1/sessions/default/spaces/desk/messages?limit=200`, { headers: { Authorization: `Bearer ${s.server.key}` } });
  return (await sent.text()).match(new RegExp(`"toolName":"${name}".*?"result":(.*?),"error":null,"status":"(\\w+)"`))?.slice(1) ?? [];
}

describe("a form of each kind", () => {
  before(async () => {
    await clerk();
    ({ person, page } = await operator(s));
    await go(s, page, "/spaces/desk");
    await page.getByRole("textbox", { name: "Message" }).waitFor();
  });
  after(async () => {
    await person?.clean();
    await person?.close();
  });

  for (const [name, { steps, result, wrong }] of Object.entries(asks)) {
    test(name, async () => {
      await s.server.says("operator", "desk", `ask:${name}`);
      await eventually("it waits", () => waiting(name));
      const card = await cardOf(name);
      for (const [mistakes, label, why] of wrong) {
        for (const step of mistakes) await step(card);
        if (!mistakes.includes(answer)) await answer(card);
        await refused(typeof label === "function" ? label(card) : fieldOf(card, label), why);
        assert.ok(await waiting(name), "nothing is settled by it");
      }
      await picture(page, `form-${name}`);
      for (const step of steps) await step(card);
      await eventually("the answer is stored", async () => (await stored(name))[1] === "done");
      assert.equal((await stored(name))[0], result);
    });
  }
});

/** Waits until a field is marked as wrong and described by the reason, and the first such field has the focus. */
async function refused(field, why) {
  const reason = () =>
    field.evaluate((e) => {
      const said = (e.getAttribute("aria-describedby") ?? "").split(" ").map((id) => document.getElementById(id)?.textContent ?? "");
      const isMarked = e.tagName === "FIELDSET" || (e.getAttribute("aria-invalid") === "true" && document.activeElement.getAttribute("aria-invalid") === "true");
      return isMarked ? said.join(" ") : "";
    });
  let last = "";
  await eventually(`it is refused because ${why}`, async () => why.test((last = await reason()))).catch((e) => assert.fail(`${e.message}; it says ${last}`));
}

test("a permission is denied with a reason, then given for later calls, too", async () => {
  // It posts the result, and calls once more when somebody writes.
  models.mock.addFixture({
    match: { predicate: (r) => r.model === "buyer" },
    response: ({ messages }) => {
      const since = messages.slice(messages.findLastIndex((m) => m.role === "user") + 1).filter((m) => m.role === "tool");
      const next = [{ toolCalls: [call("order", { targetSpaceId: "till", sum: 5 })] }, { toolCalls: [send("till", `Result: ${since[0]?.content}`)] }, { content: "Done." }];
      return { usage: used, ...next[since.length] };
    },
  });
  const order = { name: "order", description: "Orders.", executionType: "basic", execution: { mode: "pass-through" }, displayTool: true, requiresPermission: true, inputSchema: object({ sum: whole }) };
  await s.server.at("PUT", "/agents/buyer", models.agent("Buyer", "buyer", { tools: [order] }));
  await s.server.at("POST", "/spaces", { id: "till", name: "Till", members: ["operator", "buyer"] }, { as: "operator" });
  const { person, page } = await operator(s);
  await go(s, page, "/spaces/till");
  await s.server.says("operator", "till", "Order one.");
  await page.getByLabel(/^Reason/).fill("Too dear, ask Ada");
  await page.getByRole("button", { name: "Deny", exact: true }).click();
  await page.getByText(/Result:.*Too dear, ask Ada/).waitFor();

  await s.server.says("operator", "till", "Order another.");
  await page.getByLabel(/^Reason/).fill("Fine with me");
  await page.getByLabel("Remember this choice").selectOption({ label: "Calls with any arguments" });
  await picture(page, "form-permission");
  await page.getByRole("button", { name: "Approve and remember" }).click();
  const ended = (n) => eventually(`${n} runs have ended`, async () => (await s.server.at("GET", "/runs?agent=buyer&status=completed")).items.length === n);
  await ended(2);
  await s.server.says("operator", "till", "And one more.");
  await ended(3);
  const last = (await pendings("?status=answered")).filter((p) => p.toolName === "order").at(-1);
  assert.equal(last.answeredAt, last.createdAt, "nobody was asked again");
  const orders = (await s.server.at("GET", "/spaces/till/messages")).items.flatMap((m) => m.parts).filter((p) => p.toolName === "order");
  assert.deepEqual(orders.map((p) => p.status), ["denied", "done", "done"]);
  await person.clean();
  await person.close();
});

test("a question is answered by an option, and another one in words", async () => {
  models.play("poll", [
    { toolCalls: [call("ask_user", { question: "Which city?", options: ["Kiel", "Rome **or** so"] })] },
    { toolCalls: [call("ask_user", { question: "Why that one?" })] },
    { content: "Done." },
  ]);
  await s.server.at("PUT", "/agents/pollster", models.agent("Pollster", "poll"));
  await s.server.at("POST", "/spaces", { id: "poll", name: "Poll", members: ["operator", "pollster"] }, { as: "operator" });
  const { person, page } = await operator(s);
  await go(s, page, "/spaces/poll");
  await s.server.says("operator", "poll", "Ask me.");
  await page.getByText("Which city?").first().waitFor();
  await page.getByRole("button", { name: "Rome **or** so" }).click();
  await page.getByText("Why that one?").first().waitFor();
  await page.getByLabel("Your answer").fill("It is by the sea.\nAnd near.");
  await picture(page, "form-question");
  await page.getByRole("button", { name: "Answer", exact: true }).click();
  await eventually("the run has ended", async () => (await s.server.at("GET", "/runs?agent=pollster&status=completed")).items[0]);
  const parts = (await s.server.at("GET", "/spaces/poll/messages")).items.flatMap((m) => m.parts).filter((p) => p.toolName === "ask_user");
  assert.deepEqual(parts.map((p) => [p.result, p.answeredBy]), [["Rome **or** so", "operator"], ["It is by the sea.\nAnd near.", "operator"]]);
  await person.clean();
  await person.close();
});

test("another person answered first: the page shows the name and the time, also after a late answer", async () => {
  await s.server.at("POST", "/entities", { id: "ada", kind: "human", name: "Ada" });
  await s.server.at("PUT", "/spaces/desk/members/ada");
  // The space opens at the first unread message: at its end, for somebody who has read it.
  const { lastSeq } = await s.server.at("GET", "/spaces/desk", undefined, { as: "operator" });
  await s.server.at("POST", "/spaces/desk/read", { seq: lastSeq }, { as: "operator" });
  const { person, page } = await operator(s);
  await go(s, page, "/spaces/desk");
  const byAda = (name) => waiting(name).then((p) => s.server.at("POST", `/pending-actions/${p.id}/answer`, { result: { fullName: "Ada" } }, { as: "ada" }));
  const card = () => page.getByRole("article").last();
  const begin = async () => {
    await s.server.says("operator", "desk", "ask:words");
    await fill("Full name", "Grace")(card());
  };
  const seesNotice = async () => {
    await card().getByText(/^Ada answered, \d+:\d\d/).waitFor();
    assert.equal(await card().getByRole("textbox").count(), 0, "nothing is asked any more");
    assert.deepEqual(await page.getByRole("main").getByRole("alert").allInnerTexts(), [], "the later answer gets a notice, not an alert");
  };
  await begin();
  await byAda("words");
  await seesNotice();
  await picture(page, "form-first");

  const came = [];
  await page.route("**/answer", async (route) => {
    await byAda("words");
    const answered = await route.fetch();
    came.push(answered.status());
    await route.fulfill({ response: answered });
  });
  await begin();
  await answer(card());
  await eventually("it came second", () => came.length);
  assert.deepEqual(came, [409]);
  await seesNotice();
  assert.doesNotMatch(JSON.stringify(await s.server.at("GET", "/spaces/desk/messages?limit=200")), /Grace/);
  await person.clean();
  await person.close();
});
