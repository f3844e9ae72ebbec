import { expect, test } from "vitest";
import { fromSpace, triggerText } from "./trigger";
import { aRun } from "./testing";

test("the trigger of a space that the reader is not in says no more than that", () => {
  const seen = aRun({}).trigger;
  expect(fromSpace(seen)).toBe(true);
  expect(triggerText(seen)).toBe("Ann in Harbour: Hello");
  const unseen = { type: "space_message", private: true } as const;
  expect(fromSpace(unseen)).toBe(false);
  expect(triggerText(unseen)).toBe("A message in a space you are not a member of");
});
