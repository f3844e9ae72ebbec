import { expect, it } from "vitest";
import { pageName } from "./title";

it.each([
  ["/s/default/spaces/a%20b", "Alpha"],
  ["/s/default/spaces/unknown", undefined],
  ["/s/default/spaces", "Spaces"],
  ["/s/default/runs/run_1", "Runs"],
  ["/s/default/agents", "Agents"],
  ["/s/default/agents/clerk", "Clerk"],
  ["/s/default/agents/unknown", "Agents"],
  ["/s/default/settings", "Settings"],
  ["/gallery", undefined],
])("the page at %s is %s", (path, want) => {
  expect(pageName(path, (page, id) => new Map([["spaces/a b", "Alpha"], ["agents/clerk", "Clerk"]]).get(`${page}/${id}`))).toBe(want);
});
