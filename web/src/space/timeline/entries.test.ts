import { describe, expect, it } from "vitest";
import { message } from "../testdata";
import { entries } from "./entries";

const at = (minute: number, day = 20) => new Date(2026, 10, day, 10, minute).toISOString();
const kinds = (list: ReturnType<typeof entries>) => list.map((e) => (e.kind === "message" ? `${e.id}${e.joined ? " joined" : ""}` : e.kind));

describe("the rows of a timeline", () => {
  it("start with the day and group consecutive messages of a sender", () => {
    const list = [message({ seq: 1, createdAt: at(0) }), message({ seq: 2, createdAt: at(1) }), message({ seq: 3, createdAt: at(2), entityId: "bea" }), message({ seq: 4, createdAt: at(30), entityId: "bea" })];
    expect(kinds(entries(list, undefined))).toEqual(["day", "msg_1", "msg_2 joined", "msg_3", "msg_4"]);
  });

  it("part at midnight, at the unread line and at holes", () => {
    const list = [message({ seq: 1, createdAt: at(0) }), message({ seq: 2, createdAt: at(0, 21) }), message({ seq: 3, createdAt: at(1, 21) }), message({ seq: 9, createdAt: at(2, 21) })];
    expect(kinds(entries(list, 3))).toEqual(["day", "msg_1", "day", "msg_2", "unread", "msg_3", "hole", "day", "msg_9"]);
    expect(entries(list, undefined).find((e) => e.kind === "hole")).toMatchObject({ after: 3, before: 9 });
  });

  it("do not join messages of different runs, nor those of the server", () => {
    const list = [message({ seq: 1, runId: "run_1" }), message({ seq: 2, runId: "run_2" }), message({ seq: 3, entityId: "system" }), message({ seq: 4, entityId: "system" })];
    expect(kinds(entries(list, undefined))).toEqual(["day", "msg_1", "msg_2", "msg_3", "msg_4"]);
  });
});
