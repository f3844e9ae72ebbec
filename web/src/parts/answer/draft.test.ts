import { describe, expect, it } from "vitest";
import { ShoalError } from "@shoal-dev/client";
import { type Draft, draftOf, written } from "./draft";
import { faultsOf, shownAt } from "./faults";
import { askOf, shortOf } from "./schema";

type Filled = string | boolean | null | undefined | readonly Filled[] | { readonly [name: string]: Filled };

// Fills a draft in as a reader would: texts are what is typed.
function fill(schema: unknown, values: Filled): string | Record<string, string> {
  const ask = askOf(schema);
  const put = (a: typeof ask, draft: Draft, v: Filled): Draft => {
    if (v === undefined) return draft;
    if (v === null) return { ...draft, none: true };
    if (draft.kind === "text") return { ...draft, text: String(v) };
    if (draft.kind === "yes-no") return { ...draft, yes: v === true };
    if (draft.kind === "choice" && a.kind === "choice") return { ...draft, index: a.options.findIndex((o) => o.words === v) };
    if (draft.kind === "list" && a.kind === "list") return { ...draft, items: (v as readonly Filled[]).map((i) => put(a.of, draftOf(a.of), i)) };
    if (draft.kind === "object" && a.kind === "object") {
      const named = v as Record<string, Filled>;
      return { ...draft, members: draft.members.map((m, i) => put(a.members[i]?.ask ?? a, m, named[a.members[i]?.name ?? ""])) };
    }
    throw new Error(`${draft.kind} cannot be filled`);
  };
  const out = written(ask, put(ask, draftOf(ask), values));
  return "json" in out ? out.json : Object.fromEntries(out.faults);
}

const object = (properties: Record<string, unknown>, ...required: string[]) => ({ type: "object", properties, required });

describe("a form", () => {
  it("keeps the types of values", () => {
    const schema = object({ s: { type: "string" }, n: { type: "number" }, i: { type: "integer" }, b: { type: "boolean" } }, "s", "n", "i", "b");
    expect(fill(schema, { s: "12", n: "0.50", i: "7", b: false })).toBe('{"s":"12","n":0.50,"i":7,"b":false}');
  });

  it("sends a number with every digit that was typed", () => {
    expect(fill({ type: "integer" }, "12345678901234567890")).toBe("12345678901234567890");
    expect(fill({ type: "number" }, "0.1000000000000000055511151231257827")).toBe("0.1000000000000000055511151231257827");
  });

  it.each(["abc", "1.5", "0x10", "1e3", "+1", "01", "1,5"])("refuses %s as a whole number", (text) => expect(fill({ type: "integer" }, text)).toEqual({ "": expect.stringMatching(/number/) as string }));

  it("checks the bounds of a number and of a text", () => {
    expect(fill({ type: "integer", minimum: 1, maximum: 9 }, "10")).toEqual({ "": "Must be at most 9" });
    expect(fill({ type: "string", minLength: 3 }, "ab")).toEqual({ "": "Needs at least 3 characters" });
  });

  it("takes the values of an enum with their types", () => {
    expect(fill({ enum: [1, "1", true, null] }, "1")).toBe("1");
    expect(fill(object({ size: { oneOf: [{ const: 13, title: "small" }, { const: 16, title: "large" }] } }, "size"), { size: "large" })).toBe('{"size":16}');
  });

  it("leaves out empty optional fields, and reports missing ones", () => {
    const schema = object({ a: { type: "string" }, b: { type: "string" }, c: object({ d: { type: "integer" } }, "d") }, "a");
    expect(fill(schema, { a: "x" })).toBe('{"a":"x"}');
    expect(fill(schema, {})).toEqual({ a: "Required" });
    expect(fill({ ...schema, required: ["a", "c"] }, { a: "x" })).toEqual({ "c.d": "Required" });
  });

  it("writes null where it may be null", () => {
    expect(fill(object({ a: { type: ["string", "null"] } }, "a"), { a: null })).toBe('{"a":null}');
    expect(fill(object({ a: { anyOf: [{ type: "integer" }, { type: "null" }] } }, "a"), { a: "3" })).toBe('{"a":3}');
  });

  it("writes lists and objects, and names the place of what is wrong", () => {
    const schema = object({ n: { type: "array", items: { type: "integer" }, minItems: 1 }, at: object({ zip: { type: "string" } }, "zip") }, "n", "at");
    expect(fill(schema, { n: ["1", "2"], at: { zip: "01" } })).toBe('{"n":[1,2],"at":{"zip":"01"}}');
    expect(fill(schema, { n: ["1", "x"], at: {} })).toEqual({ "n[1]": "Must be a number, such as 12 or 0.5", "at.zip": "Required" });
    expect(fill(schema, { n: [], at: { zip: "1" } })).toEqual({ n: "At least 1 required" });
  });

  it("begins with the defaults", () => {
    expect(fill(object({ a: { type: "integer", default: 5 }, b: { type: "boolean", default: false }, c: { enum: ["x", "y"], default: "y" }, d: { type: "array", items: { type: "string" }, default: ["z"] } }), {})).toBe('{"a":5,"b":false,"c":"y","d":["z"]}');
  });

  it("leaves out a default that a script rounds", () => {
    expect(fill(JSON.parse('{"type":"object","properties":{"a":{"type":"integer","default":9007199254740993}}}'), {})).toBe("{}");
  });

  it("follows references in the schema", () => {
    expect(fill({ $defs: { zip: { type: "integer" } }, ...object({ zip: { $ref: "#/$defs/zip" } }, "zip") }, { zip: "4" })).toBe('{"zip":4}');
  });

  it("takes JSON as it is written for what has no field", () => {
    expect(fill({ type: "array", items: { type: "object" } }, "[{}]")).toBe("[{}]");
    expect(fill(object({ any: {} }, "any"), { any: '{"big": 12345678901234567890}' })).toBe('{"any":{"big": 12345678901234567890}}');
    expect(fill({}, "{a}")).toEqual({ "": expect.stringMatching(/^Invalid JSON/) as string });
  });

  it("keeps a property named __proto__ apart", () => {
    const schema = JSON.parse('{"type":"object","required":["__proto__"],"properties":{"__proto__":{"type":"string"}}}') as unknown;
    const ask = askOf(schema);
    expect(written(ask, { kind: "object", none: false, members: [{ kind: "text", text: "x", none: false }] })).toEqual({ json: '{"__proto__":"x"}' });
    expect({}).not.toHaveProperty("polluted");
  });
});

describe("schemas without a form", () => {
  it.each([
    ["deep objects", object({ a: object({ b: object({ c: object({ d: { type: "string" } }) }) }) })],
    ["a remote reference", { $ref: "https://canary.example/x" }],
    ["a ring of references", { $ref: "#" }],
    ["combined schemas", { allOf: [{ type: "string" }] }],
    ["an enum of numbers that a script rounds", JSON.parse('{"enum":[9007199254740993,1]}') as unknown],
    ["a const that a script rounds", JSON.parse('{"const":9007199254740993}') as unknown],
    ["lists of lists", { type: "array", items: { type: "array", items: {} } }],
  ])("%s end in JSON", (_, schema) => expect(JSON.stringify(askOf(schema))).toContain('"kind":"json"'));
});

describe("buttons in place of a form", () => {
  it("for one required yes or no", () => expect(shortOf(askOf(object({ chosen: { type: "boolean" } }, "chosen")))?.name).toBe("chosen"));
  it("for one required enum", () => expect(shortOf(askOf(object({ c: { enum: ["a", "b"] } }, "c")))?.ask.kind).toBe("choice"));
  it("for a boolean by itself", () => expect(shortOf(askOf({ type: "boolean" }))).toMatchObject({ name: undefined }));
  it("not for an optional one", () => expect(shortOf(askOf(object({ c: { type: "boolean" } })))).toBeUndefined());
  it("not where there is more to say", () => expect(shortOf(askOf(object({ c: { type: "boolean" }, d: { type: "string" } }, "c")))).toBeUndefined());
});

describe("errors of the server", () => {
  it("is shown at its field", () => {
    const problem = ShoalError.of(422, { code: "invalid_argument", detail: "…", errors: [{ location: "body.result", message: "does not fit the tool's schema: result.at.zip: is missing\nresult.n[1]: must be an integer" }] });
    expect([...faultsOf(problem)]).toEqual([
      ["at.zip", "is missing"],
      ["n[1]", "must be an integer"],
    ]);
  });
  it("is shown at fields whose names have special characters", () => {
    const problem = ShoalError.of(422, { code: "invalid_argument", errors: [{ location: "body.result", message: 'does not fit the tool\'s schema: result["street name"]: must match\nresult.at["a.b"][0]: is missing\nresult["\\u003ci\\u003e"].x: is missing' }] });
    expect([...faultsOf(problem).keys()]).toEqual(['["street name"]', 'at["a.b"][0]', '["<i>"].x']);
    const named = object({ "street name": { type: "string", minLength: 3 } }, "street name");
    expect(fill(named, { "street name": "a" })).toEqual({ '["street name"]': "Needs at least 3 characters" });
  });
  it("is shown at the nearest field, if it is inside one or outside all", () => {
    const ask = askOf(object({ lines: { type: "array", items: object({ sku: { type: "string" } }) }, "a b": { type: ["string", "null"] } }, "lines"));
    const faults = new Map([["lines[0].sku", "is missing"], ["lines", "is short"], ['["a b"]', "is wrong"], ['more["x y"]', "is not known"]]);
    expect([...shownAt(ask, draftOf(ask), faults)]).toEqual([["lines", "[0].sku: is missing; is short"], ['["a b"]', "is wrong"], ["", 'more["x y"]: is not known']]);
  });
  it("is shown for the whole form if it names no field", () => {
    const problem = ShoalError.of(422, { code: "invalid_argument", errors: [{ location: "result", message: "must be a JSON value" }] });
    expect([...faultsOf(problem)]).toEqual([["", "must be a JSON value"]]);
  });
  it("is shown for the fields of other answers", () => {
    const problem = ShoalError.of(422, { code: "invalid_argument", errors: [{ location: "body.reason", message: "is too long" }] });
    expect([...faultsOf(problem)]).toEqual([["reason", "is too long"]]);
  });
});

it("a schema of thousands of fields is answered as JSON, and one with odd names is read", () => {
  const many = (depth: number): object => ({ type: "object", properties: Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`m${i}`, depth === 0 ? { type: "string" } : many(depth - 1)])) });
  expect(askOf(many(2)).kind).toBe("json");
  expect(askOf({ type: "object", required: [{ toString: 1, valueOf: 1 }], properties: { a: { type: "string", title: { toString: 1 } } } }).kind).toBe("object");
});
