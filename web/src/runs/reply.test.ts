import { expect, it } from "vitest";
import type { Run } from "@shoal-dev/client";
import { awaitedReply } from "./reply";

const from = (...of: readonly (readonly [string, string | null])[]): Run["waitingFor"] => ({ spaceId: "shop", from: of.map(([type, entityId]) => ({ type, entityId })), until: null });

it.each<[string, Run["waitingFor"]]>([
  ["a reply from anybody", from(["any", null])],
  ["a reply from a person", from(["human", null])],
  ["a reply from Ann or an agent", from(["entity", "ann"], ["agent", null])],
  ["a time", { spaceId: null, from: [], until: "2026-11-22T09:00:00.000Z" }],
  ["a reply in another space", null],
])("a run waits for %s", (words, waitingFor) => {
  expect(awaitedReply({ waitingFor }, (id) => ({ ann: "Ann" })[id] ?? id)).toBe(words);
});
