import { expect, test } from "vitest";
import { missingOf, stepWords } from "./missing-tools";

const gone = { server: "shop", tools: ["pay"], message: "The server does not answer." };

test("a tool missing in several steps is listed once", () => {
  const steps = [{ index: 0, missingTools: [gone] }, { index: 1, missingTools: [gone, { ...gone, server: "bank", tools: [] }] }, { index: 2, missingTools: [] }];
  expect(missingOf(steps)).toEqual([
    { missing: gone, steps: [1, 2] },
    { missing: { ...gone, server: "bank", tools: [] }, steps: [2] },
  ]);
});

test("steps count from 1", () => {
  expect([stepWords([1]), stepWords([1, 2, 3]), stepWords([1, 3])]).toEqual(["step 1", "steps 1–3", "steps 1, 3"]);
});
