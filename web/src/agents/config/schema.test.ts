// The schema is the server's own, as it is published.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { getIn, type JsonObject, readJson } from "./json";
import { shapeAt, withDefaults, withoutDefaults } from "./schema";

const schema = readJson(readFileSync("../internal/agentconfig/agent-config.schema.json", "utf8")) as JsonObject;
const config: JsonObject = {
  version: "1.0",
  agent: { id: "desk", system: "Be brief." },
  model: { provider: "openai", name: "gpt-4o-mini" },
  tools: [
    { name: "book", executionType: "request", execution: { url: "https://rooms.example", method: "POST", headers: { b: "2", a: "1" } } },
    { name: "ask", answer: { by: ["zoe", "ann"] }, inputSchema: { type: "object", properties: { z: {}, a: {} } } },
  ],
};

test("a field's kind, words and bounds are the schema's", () => {
  expect(shapeAt(schema, config, ["loop", "maxSteps"])).toMatchObject({ kind: "number", whole: true, least: 1, most: 10000, default: 5, description: "The maximum number of model calls." });
  expect(shapeAt(schema, config, ["model", "provider"])).toMatchObject({ kind: "choice", required: true, choices: ["openai", "anthropic", "google", "azure", "vertex", "bedrock", "ollama", "script"] });
  expect(shapeAt(schema, config, ["agent", "system"])).toMatchObject({ kind: "text", long: true, required: false });
  expect(shapeAt(schema, config, ["model", "name"])).toMatchObject({ kind: "text", required: true });
  expect(shapeAt(schema, config, ["agent", "name"])).toMatchObject({ kind: "text", long: false, required: false });
  expect(shapeAt(schema, config, ["tools", 0, "targeted"])).toMatchObject({ kind: "flag", default: false });
  expect(shapeAt(schema, config, ["tools", 0, "inputSchema"])).toMatchObject({ kind: "other" });
  expect(shapeAt(schema, config, ["model", "providerOptions"])).toMatchObject({ kind: "other" });
});

test("execution has the shape that executionType names", () => {
  expect(shapeAt(schema, config, ["tools", 0, "execution", "method"]).choices).toContain("PATCH");
  expect(shapeAt(schema, config, ["tools", 1, "execution", "mode"]).choices).toEqual(["no-execution", "static", "pass-through"]);
});

test("defaults are filled in as the server does", () => {
  const whole = withDefaults(schema, config);
  expect(whole.loop).toMatchObject({ maxSteps: 5, runTimeoutMs: 300000, onNewMessage: "parallel" });
  expect(whole.model).toEqual({
    ...{ provider: "openai", name: "gpt-4o-mini", baseURL: "", api: "default", maxOutputTokens: 1000, providerOptions: {} },
    reasoning: { enabled: false, effort: "medium", budgetTokens: 0, includeThoughts: false, summary: "" },
  });
  expect(getIn(whole, ["tools", 0, "execution"])).toEqual({ url: "https://rooms.example", method: "POST", headers: { a: "1", b: "2" }, queryParams: {}, timeout: 30000 });
  expect(getIn(whole, ["tools", 1, "execution"])).toEqual({ mode: "no-execution", output: {}, template: false });
  expect(getIn(whole, ["tools", 1, "answer", "by"])).toEqual(["ann", "zoe"]);
  expect(getIn(whole, ["tools", 1, "inputSchema"])).toEqual({ type: "object", properties: { a: {}, z: {} } });
  expect(Object.keys(whole)).toEqual(["version", "agent", "model", "loop", "context", "tools", "mcp", "reply", "access", "budget"]);
});

test("defaults of the server are left out, everything else stays", () => {
  const odd: JsonObject = { ...config, "x-mine": { a: [] }, loop: { maxSteps: 5, settleMs: 10 } };
  const thin = withoutDefaults(schema, withDefaults(schema, odd));
  expect(thin).toEqual({ ...odd, loop: { settleMs: 10 }, tools: [{ ...(getIn(odd, ["tools", 0]) as JsonObject) }, { ...(getIn(odd, ["tools", 1]) as JsonObject), answer: { by: ["ann", "zoe"] } }] });
  expect(withDefaults(schema, thin)).toEqual(withDefaults(schema, odd));
});
