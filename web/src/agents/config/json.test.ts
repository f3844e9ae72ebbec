import { expect, test } from "vitest";
import { getIn, type Json, parseLocation, pathText, readJson, sameJson, setIn, writeJson } from "./json";

const config: Json = { agent: { id: "a", extra: { kept: true } }, tools: [{ name: "x" }, { name: "y" }] };

test("a change leaves everything else the very same", () => {
  const changed = setIn(config, ["agent", "id"], "b");
  expect(changed).toEqual({ agent: { id: "b", extra: { kept: true } }, tools: [{ name: "x" }, { name: "y" }] });
  expect(getIn(changed, ["tools"])).toBe(getIn(config, ["tools"]));
  expect(getIn(config, ["agent", "id"])).toBe("a");
});

test("missing parents are created, removed values are deleted", () => {
  expect(setIn({}, ["loop", "maxSteps"], 3)).toEqual({ loop: { maxSteps: 3 } });
  expect(setIn({ loop: { maxSteps: 3 } }, ["loop", "maxSteps"], undefined)).toEqual({ loop: {} });
  expect(setIn(config, ["tools", 0], undefined)).toMatchObject({ tools: [{ name: "y" }] });
  expect(setIn({}, ["display", "mode"], undefined)).toEqual({});
});

test("names of Object's prototype are names like others", () => {
  const read = readJson('{"__proto__": {"a": 1}, "constructor": 2}');
  expect(getIn(read, ["__proto__", "a"])).toBe(1);
  expect(getIn({}, ["constructor"])).toBeUndefined();
  expect(writeJson(setIn(read, ["x"], 3))).toBe('{"__proto__":{"a":1},"constructor":2,"x":3}');
});

test.each([
  ["body.tools[0].name", ["tools", 0, "name"]],
  ['body.tools[0].inputSchema.properties["a b"].type', ["tools", 0, "inputSchema", "properties", "a b", "type"]],
  ['body["x.y"]', ["x.y"]],
  ["body.zzz", ["zzz"]],
  ["body.config", []],
  ["body", []],
])("%s", (location, path) => {
  expect(parseLocation(location)).toEqual(path);
});

test("a path is written as the server writes it", () => {
  expect(pathText(["tools", 0, "inputSchema", "properties", "a b"])).toBe('tools[0].inputSchema.properties["a b"]');
});

test("whole numbers keep all their digits", () => {
  const text = '{"maximum":9223372036854775807,"text":"9223372036854775807","small":-5,"half":0.5,"big":1e3}';
  const read = readJson(text);
  expect(getIn(read, ["maximum"])).toBe(9223372036854775807n);
  expect(writeJson(read)).toBe('{"maximum":9223372036854775807,"text":"9223372036854775807","small":-5,"half":0.5,"big":1000}');
});

test("invalid JSON is an error about the text as written", () => {
  expect(() => readJson('{"a": 9223372036854775807')).toThrow(SyntaxError);
});

test("the order of fields is ignored, the order of a list is not", () => {
  expect(sameJson({ a: 1, b: [1, 2] }, { b: [1, 2], a: 1 })).toBe(true);
  expect(sameJson([1, 2], [2, 1])).toBe(false);
  expect(sameJson({ a: 1 }, { a: 1, b: null })).toBe(false);
});
