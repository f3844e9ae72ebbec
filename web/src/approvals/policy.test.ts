import { expect, test } from "vitest";
import { policyWords } from "./policy";

const name = (id: string) => ({ uma: "Uma", ada: "Ada" })[id] ?? id;

test("the description of a policy", () => {
  const p = { by: null, kind: "permission" as const, spaceId: null, notRequester: false, requesters: ["ada"] };
  expect(policyWords(p, name)).toBe("The requesters and the agent's owner.");
  expect(policyWords({ ...p, kind: "question", spaceId: "shop" }, name)).toBe("Members of the space.");
  expect(policyWords({ ...p, by: ["uma", "admins"], notRequester: true }, name)).toBe("Uma and admins of the session, but not the requesters (Ada).");
});
