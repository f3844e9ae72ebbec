import { describe, expect, it } from "vitest";
import type { Caller, Entity } from "@shoal-dev/client";
import { lendable } from "./consent";

const agent = (id: string, more: Partial<Entity> = {}) => ({ id, kind: "agent", hosted: false, ownerId: null, ...more }) as Entity;

const me = (acts: string[]) => ({ entityId: "ann", acts }) as unknown as Caller;

describe("the agents as which a program may act", () => {
  const all = [agent("own", { ownerId: "ann" }), agent("bobs", { ownerId: "bob" }), agent("nobodys"), agent("hosted", { hosted: true, ownerId: "ann" }), agent("ann", { kind: "human" })];
  it("are a member's own", () => expect(lendable(all, me(["connect_agent"])).map((a) => a.id)).toEqual(["own"]));
  it("are for an owner all that the server does not run", () => expect(lendable(all, me(["manage"])).map((a) => a.id)).toEqual(["own", "bobs", "nobodys"]));
});
