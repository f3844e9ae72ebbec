import { expect, test } from "vitest";
import { type Plan, ShoalError } from "@shoal-dev/client";
import { noneIfGone, untilPlan } from "./queries";

test.each([
  [404, []],
  [500, "failed"],
])("the list of something that is answered with %i", async (status, want) => {
  expect(await noneIfGone(Promise.reject<never[]>(new ShoalError(status, "x", "no"))).catch(() => "failed")).toEqual(want);
});

const now = Date.parse("2026-11-22T09:00:00Z");
const plan = (nextRunAt: string | null, status: Plan["status"] = "pending") => ({ nextRunAt, status }) as Plan;

test.each([
  ["nothing is planned", [], 15_000],
  ["the next one is far", [plan("2026-11-22T10:00:00Z")], 15_000],
  ["one comes in two seconds", [plan("2026-11-22T10:00:00Z"), plan("2026-11-22T09:00:02Z")], 3000],
  ["one is just due", [plan("2026-11-22T08:59:59Z")], 1000],
  ["one is long overdue by this clock", [plan("2026-11-22T08:00:00Z")], 15_000],
  ["one is paused, one is over", [plan("2026-11-22T09:00:02Z", "paused"), plan(null, "completed")], 15_000],
])("plans are read again in time where %s", (_, plans, ms) => expect(untilPlan(plans, now)).toBe(ms));
