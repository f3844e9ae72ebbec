import { expect, test } from "vitest";
import type { JsonObject } from "./config/json";
import { beginDraft, changeDraft, type DraftAction, type DraftState, textOf, unreadable, unreadableSentence } from "./draft";

const config: JsonObject = { version: "1.0", agent: { system: "Be brief." }, tools: [{ name: "a", inputSchema: { type: "object" } }, { name: "b" }], "x-other": { kept: [1] } };
const after = (...actions: DraftAction[]): DraftState => actions.reduce(changeDraft, beginDraft(config));

test("a form and the text show the same config, and unknown fields survive both", () => {
  const formed = after({ type: "set", path: ["agent", "system"], value: "Be kind." });
  expect(textOf(formed)).toContain("system: Be kind.");
  const typed = changeDraft(formed, { type: "text", text: textOf(formed).replace("kind", "quick") });
  expect(typed.config).toEqual({ ...config, agent: { system: "Be quick." } });
});

test("a typed text stays as it was typed until a form changes something", () => {
  const text = "# mine\nversion: '1.0'\nagent: {system: Hi}\n";
  const typed = after({ type: "text", text });
  expect(textOf(typed)).toBe(text);
  expect(textOf(changeDraft(typed, { type: "set", path: ["agent", "name"], value: "A" }))).toBe('version: "1.0"\nagent:\n  system: Hi\n  name: A\n');
});

test("an invalid text changes nothing, shows the reason, and can be discarded", () => {
  const broken = after({ type: "text", text: "version: '1.0'\nagent: [" });
  expect(broken.config).toEqual(config);
  expect(broken.problem?.line).toBe(2);
  expect(unreadable(broken)?.path).toEqual([]);
  expect(changeDraft(broken, { type: "format", format: "json" })).toBe(broken);
  const given = changeDraft(broken, { type: "readable" });
  expect(unreadable(given)).toBeUndefined();
  expect(textOf(given)).toContain("system: Be brief.");
});

test("the format is another way to write the same config", () => {
  expect(JSON.parse(textOf(after({ type: "format", format: "json" })))).toEqual(config);
});

test("a section written as text is applied when it is valid", () => {
  const path = ["tools", 0, "inputSchema"];
  const half = after({ type: "piece", path, text: "type: object\nproperties: {" });
  expect(half.config).toEqual(config);
  expect(unreadableSentence(half)).toMatch(/^tools\[0\]\.inputSchema, on the tab tools, cannot be read: /);
  const whole = changeDraft(half, { type: "piece", path, text: "type: object\nproperties: {}" });
  expect(whole.config).toMatchObject({ tools: [{ inputSchema: { type: "object", properties: {} } }, { name: "b" }] });
  expect(whole.pieces).toEqual([{ path, text: "type: object\nproperties: {}", problem: undefined }]);
  expect(changeDraft(whole, { type: "piece", path, text: " " }).config).toMatchObject({ tools: [{ name: "a" }, { name: "b" }] });
});

test("an error of the server stays at its field until the field changes", () => {
  const refused = after({ type: "refused", fields: [{ location: "body.tools[1].name", message: "is taken" }, { location: "body.agent.system", message: "must not be empty" }] });
  expect(refused.wrongs.map((w) => w.path)).toEqual([["tools", 1, "name"], ["agent", "system"]]);
  expect(changeDraft(refused, { type: "set", path: ["tools", 1, "name"], value: "c" }).wrongs.map((w) => w.path)).toEqual([["agent", "system"]]);
  expect(changeDraft(refused, { type: "text", text: textOf(refused).replace("name: b", "name: c") }).wrongs.map((w) => w.path)).toEqual([["agent", "system"]]);
  expect(changeDraft(refused, { type: "set", path: ["tools", 0], value: undefined }).wrongs.map((w) => w.path)).toEqual([["agent", "system"]]);
});
