import { expect, test } from "vitest";
import { formatOf, lineOf, readConfig, readValue, writeValue } from "./text";

const yaml = `# the front desk
version: "1.0"
agent:
  system: |
    Be brief.
    Be kind.
tools:
  - name: book
    inputSchema: {type: object, properties: {"a b": {type: strin}}}
  - name: cancel
`;

test("YAML and JSON of the same config are the same", () => {
  const read = readConfig(yaml);
  if ("problem" in read) throw new Error(read.problem.message);
  expect(read.value.version).toBe("1.0");
  for (const format of ["yaml", "json"] as const) {
    const text = writeValue(read.value, format);
    expect(formatOf(text)).toBe(format);
    expect(readConfig(text)).toEqual(read);
  }
});

test("several lines of text stay several lines", () => {
  expect(writeValue({ system: "Be brief.\nBe kind.\n" }, "yaml")).toBe("system: |\n  Be brief.\n  Be kind.\n");
});

test.each([
  ["yes and no are texts, as for the server", "a: yes\nb: no", { a: "yes", b: "no" }],
  ["a time is a text", "at: 2026-11-22T10:00:00Z", { at: "2026-11-22T10:00:00Z" }],
  ["a whole number of any size", "n: 9223372036854775807", { n: 9223372036854775807n }],
  ["an anchor", "a: &x {b: 1}\nc: *x", { a: { b: 1 }, c: { b: 1 } }],
])("%s", (_, text, want) => {
  expect(readValue(text)).toEqual({ value: want });
});

test.each([
  ["a text that breaks off", "a:\n  b: [1,\n", 3],
  ["a name that is there twice", "a: 1\nb: 2\na: 3", 3],
  ["broken JSON", '{\n  "a": 1,\n  "b": ]\n}', 3],
  ["a list", "- a", 1],
  ["a sentence", "hello", 1],
])("%s is reported with its line", (_, text, line) => {
  const read = readConfig(text);
  expect("problem" in read && read.problem.line).toBe(line);
});

test("an empty text is not a config", () => {
  expect(readConfig("# only a comment")).toEqual({ problem: { message: "There is nothing in it.", line: 1 } });
});

test.each([
  [["agent", "system"], 4],
  [["tools", 1], 10],
  [["tools", 1, "name"], 10],
  [["tools", 0, "inputSchema", "properties", "a b", "type"], 9],
  [["agent", "missing"], 3],
  [["model"], undefined],
])("%j is on line %s", (path, line) => {
  expect(lineOf(yaml, path)).toBe(line);
  expect(lineOf('{\n  "version": "1.0",\n  "agent": {\n    "system": ""\n  }\n}', ["agent", "system"])).toBe(4);
});
