import { expect, it } from "vitest";
import { scopesOfLimits, unlimited } from "./key-limits";

it("a key without limits has no scopes", () => expect(scopesOfLimits(unlimited)).toEqual({ scopes: [] }));

it("a limit to spaces leaves all that the role allows there", () =>
  expect(scopesOfLimits({ ...unlimited, everywhere: false, spaces: new Set(["yard"]) })).toEqual({ scopes: ["spaces:yard"] }));

// An empty list of scopes would mean everything.
it.each([
  [{ ...unlimited, everything: false, chosen: new Set<string>() }, "Choose at least one thing that it may do."],
  [{ ...unlimited, everywhere: false }, "Choose at least one space."],
])("a limit that leaves nothing is refused", (limits, wrong) => expect(scopesOfLimits(limits).wrong).toBe(wrong));
