import { expect, test } from "vitest";
import type { Plan } from "@shoal-dev/client";
import { bodyOf, fieldsOf, newFields, wrongField } from "./plan-form";

const plan: Plan = {
  id: "pln_1", agentId: "bot", name: "report", description: "", instruction: "Report.", cron: null, timeZone: "Europe/Berlin", scheduledAt: "2026-07-01T07:00:00.000Z",
  status: "pending", nextRunAt: "2026-07-01T07:00:00.000Z", lastRunAt: null, lastRunId: null, createdAt: "2026-01-01T00:00:00.000Z", actingFor: ["ann"],
};

test("reads and sends a single time in its zone", () => {
  const fields = fieldsOf(plan);
  expect(fields).toMatchObject({ kind: "once", at: "2026-07-01T09:00", timeZone: "Europe/Berlin" });
  expect(bodyOf({ ...fields, at: "2026-12-01T09:00" })).toEqual({ body: { name: "report", description: "", instruction: "Report.", timeZone: "Europe/Berlin", scheduledAt: "2026-12-01T08:00:00.000Z" } });
});

test("sends an expression unchanged, for the server to validate", () => {
  expect(bodyOf({ ...newFields("bot"), name: " a ", cron: " 61 * * * * ", timeZone: "UTC" })).toEqual({ body: { name: "a", description: "", instruction: "", timeZone: "UTC", cron: "61 * * * *" } });
});

test.each([
  ["no day", { at: "" }, "body.scheduledAt"],
  ["no zone", { timeZone: "Mars/Olympus" }, "body.timeZone"],
])("does not send a single time with %s", (_, some, location) => {
  const made = bodyOf({ ...fieldsOf(plan), ...some });
  expect("wrong" in made && made.wrong.map((w) => w.location)).toEqual([location]);
});

test("shows an error at its field, as a sentence", () => {
  const errors = [{ location: "body.cron", message: "cannot be read" }, { location: "body.name", message: "is missing." }];
  expect(wrongField(errors, "cron")).toBe("It cannot be read.");
  expect(wrongField(errors, "name")).toBe("It is missing.");
  expect(wrongField(errors, "timeZone")).toBeUndefined();
});
