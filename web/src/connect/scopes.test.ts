import { describe, expect, it } from "vitest";
import { limits, scopesOf } from "./scopes";

describe("the scopes of a choice", () => {
  it("are empty for everything", () => expect(scopesOf(new Set(["read"]), true, [])).toEqual([]));
  it("are the chosen words", () => expect(scopesOf(new Set(["post", "read"]), false, [])).toEqual(["read", "post"]));
  it("name the spaces where it works there only", () => expect(scopesOf(new Set(["read"]), false, ["yard", "attic"])).toEqual(["read", "spaces:attic,yard"]));
});

it.each([
  [[], ""],
  [["read", "post"], "may only read, post"],
  [["spaces:yard,attic"], "only in yard, attic"],
  [["read", "spaces:yard", "tools:send_message"], "may only read · only in yard · only the tools send_message"],
])("the scopes %j are shown as %j", (scopes, text) => expect(limits(scopes)).toBe(text));
