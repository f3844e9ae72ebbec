import { cleanup } from "@testing-library/react";
import { afterEach, expect, it } from "vitest";
import type { Entity } from "@shoal-dev/client";
import { EntityState } from "@/ui/state";
import { entity, space } from "@/space/testdata";
import { beginning, show } from "@/space/testworld";
import { Activity } from "./activity";

afterEach(cleanup);

it.each<[Entity["state"], string]>([
  ["running", "running"],
  ["waiting", "waiting for a mention"],
  ["offline", "offline"],
  ["connected", ""],
])("a hosted agent that is %s shows %j", async (state, words) => {
  const world = await show(<Activity agent="bot" />, beginning(space(), [], [entity({ id: "bot", kind: "agent", hosted: true, state })]));
  expect(world.container.textContent).toBe(words);
});

it("connected is a kind of agent; the state is called online", async () => {
  const world = await show(<EntityState state="connected" />, []);
  expect(world.container.textContent).toBe("online");
});
