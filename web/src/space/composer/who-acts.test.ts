import { describe, expect, it } from "vitest";
import { entity, member, space } from "../testdata";
import { answering, whoActs } from "./who-acts";

const entities = new Map(
  [
    entity({ id: "ann" }),
    entity({ id: "bot", kind: "agent", hosted: true }),
    entity({ id: "shop", kind: "agent", hosted: true }),
    entity({ id: "coral", kind: "agent" }),
  ].map((e) => [e.id, e]),
);
const of = (id: string) => entities.get(id);
const ann = member("ann");
const bot = member("bot", "agent");
const shop = member("shop", "agent");
const coral = member("coral", "agent");

describe("entities that act on a person's message", () => {
  it("the mentioned agents alone", () => {
    expect(whoActs(space({ members: [ann, bot, shop], adminAgentId: "shop" }), "ann", ["bot"], of)).toEqual({ by: "mention", agents: ["bot"] });
  });
  it("a connected agent that is mentioned keeps the admin agent quiet", () => {
    expect(whoActs(space({ members: [ann, bot, coral] }), "ann", ["coral"], of)).toEqual({ by: "mention", agents: ["coral"] });
  });
  it("a mentioned person changes nothing", () => {
    expect(whoActs(space({ members: [ann, member("bea"), bot] }), "ann", ["bea"], of)).toEqual({ by: "space", agent: "bot" });
  });
  it("the admin agent, when nobody is mentioned", () => {
    expect(whoActs(space({ members: [ann, bot, shop], adminAgentId: "shop" }), "ann", [], of)).toEqual({ by: "space", agent: "shop" });
  });
  it("the only hosted agent, where no admin agent is set", () => {
    expect(answering(space({ members: [ann, bot, coral] }), of)).toBe("bot");
  });
  it("nobody, where only connected agents are", () => {
    expect(whoActs(space({ members: [ann, coral] }), "ann", [], of)).toEqual({ by: "nobody", why: "unasked" });
  });
  it("nobody, where no agents are", () => {
    expect(whoActs(space({ members: [ann] }), "ann", [], of)).toEqual({ by: "nobody", why: "no agents" });
  });
});

it("an agent wakes only mentioned agents", () => {
  const s = space({ members: [ann, bot, coral] });
  expect(whoActs(s, "coral", [], of)).toEqual({ by: "nobody", why: "sender is an agent" });
  expect(whoActs(s, "coral", ["bot"], of)).toEqual({ by: "mention", agents: ["bot"] });
});
