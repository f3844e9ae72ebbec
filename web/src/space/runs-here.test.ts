import { expect, it } from "vitest";
import { runsHere } from "./runs-here";
import { pendingAction, run } from "./testdata";

const elsewhere = { ...run().trigger, spaceId: "other" } as ReturnType<typeof run>["trigger"];

it("the runs of a space are those that it started, newest first, as the stream last reported them", () => {
  const asked = [run({ id: "a", createdAt: "2026-11-20T10:00:00.000Z" }), run({ id: "wrote-here", trigger: elsewhere, createdAt: "2026-11-20T09:00:00.000Z" })];
  const live = [run({ id: "a", status: "completed", createdAt: "2026-11-20T10:00:00.000Z" }), run({ id: "b", createdAt: "2026-11-20T11:00:00.000Z" }), run({ id: "far", trigger: elsewhere })];
  const got = runsHere("shop", asked, live);
  expect(got.all.map((r) => r.id)).toEqual(["b", "a", "wrote-here"]);
  expect(got.underWay.map((r) => r.id)).toEqual(["b", "wrote-here"]);
});

it("a run that asks something here belongs here", () => {
  const p = pendingAction();
  const asks = run({ trigger: elsewhere, status: "waiting_tool", pendingToolCalls: [{ toolCallId: p.toolCallId, toolName: p.toolName, args: {}, pendingActionId: p.id, spaceId: "shop", expiresAt: null }] });
  expect(runsHere("shop", [], [asks]).all).toHaveLength(1);
});

it("failed runs are found by the message that started them", () => {
  const failed = run({ id: "f", status: "failed" });
  expect(runsHere("shop", [], [failed, run({ id: "ok" })]).failed.get("msg_1")).toEqual([failed]);
});
