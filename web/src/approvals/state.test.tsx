import { cleanup, render } from "@testing-library/react";
import { afterEach, expect, it } from "vitest";
import { PendingState } from "./state";

afterEach(cleanup);

const decision = (approved: boolean, ask: string | null = null) => ({ approved, by: "ada", reason: null, ask });

it.each([
  ["open", null, "open"],
  ["answered", null, "answered"],
  ["answered", decision(true), "approved"],
  ["answered", decision(false), "denied"],
  ["answered", decision(false, "Which one?"), "sent back"],
  ["expired", decision(false), "expired"],
] as const)("a request that is %s with the decision %j is shown as such", (status, d, word) => {
  expect(render(<PendingState pending={{ status, decision: d }} />).container.textContent).toBe(word);
});
