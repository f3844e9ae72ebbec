import { expect, it } from "vitest";
import { message, run } from "../testdata";
import { reported } from "./reported";

const end = "2026-11-20T10:00:07.000Z";
const failed = new Map([["msg_1", [run({ id: "run_2", status: "failed", endedAt: "2026-11-20T10:09:00.000Z" }), run({ status: "failed", endedAt: end })]]]);
const notice = message({ id: "msg_9", entityId: "system", mentions: ["ann"], createdAt: end });

it("finds the run that a message of the server is about", () => {
  expect([...reported(failed, [message(), notice])].map(([id, r]) => [id, r.id])).toEqual([["msg_9", "run_1"]]);
});

it.each([
  ["another time", { ...notice, createdAt: "2026-11-20T10:00:07.001Z" }],
  ["another author", { ...notice, entityId: "bot" }],
  ["nobody that it concerns", { ...notice, mentions: [] }],
])("takes no message of %s for one", (_, m) => {
  expect(reported(failed, [m]).size).toBe(0);
});
