import { expect, test } from "vitest";
import type { Entity, Space } from "@shoal-dev/client";
import type { JsonObject } from "../config/json";
import { leftovers, trialConfig } from "./trial";

const draft: JsonObject = { agent: { id: "shop", system: "Sell." }, model: { provider: "openai", name: "x" }, tools: [] };

test("a trial runs the draft under its own id, and changes nothing else", () => {
  expect(trialConfig(draft, "try-1", "try-1")).toEqual({ ...draft, agent: { id: "try-1", system: "Sell." } });
});

test("a script speaks in the trial's space", () => {
  const script = 'call sendSpaceMessage {"spaceId":"welcome","text":"a \\"spaceId\\": no"}\ncall order#o {"targetSpaceId": "approvals","n":1}\nsay "spaceId" is a word';
  const played: JsonObject = { ...draft, model: { provider: "script", name: "x", providerOptions: { script } } };
  expect(trialConfig(played, "try-1", "try-1").model).toMatchObject({
    providerOptions: { script: 'call sendSpaceMessage {"spaceId":"try-1","text":"a \\"spaceId\\": no"}\ncall order#o {"targetSpaceId": "try-1","n":1}\nsay "spaceId" is a word' },
  });
});

test("leftovers are the marked agents, except for the running trial", () => {
  const entity = (id: string, metadata: Record<string, unknown>) => ({ id, metadata }) as Entity;
  const space = (id: string, status: Space["status"], metadata: Record<string, unknown>) => ({ id, status, metadata }) as Space;
  const marked = { "shoal.try": true };
  expect(
    leftovers([entity("try-1", marked), entity("try-2", marked), entity("try-3", {})], [space("try-1", "open", marked), space("try-2", "open", marked), space("try-0", "closed", marked), space("welcome", "open", {})], "try-2"),
  ).toEqual({ agents: ["try-1"], spaces: ["try-1", "try-0"] });
});
