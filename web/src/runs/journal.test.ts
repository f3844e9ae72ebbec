// The log of a run: what is stored, then what came.
import { describe, expect, test } from "vitest";
import { entryOf, exportLines, journal, storedEntries } from "./journal";
import { aCall, aMessage, aPending, aRun, aStep, at } from "./testing";

const record = {
  run: aRun({ status: "completed", startedAt: at(1), endedAt: at(100) }),
  steps: [aStep({ startedAt: at(2), endedAt: at(90), toolCalls: [aCall({ startedAt: at(50), endedAt: at(60) })] })],
  messages: [aMessage({ createdAt: at(20), updatedAt: at(91) })],
  pending: [aPending({ createdAt: at(30), status: "answered", answeredAt: at(40) })],
};

describe("journal", () => {
  test("lists stored records in the order in which they happened", () => {
    expect(storedEntries(record).map((e) => e.type)).toEqual([
      "run.created", "run.started", "step.started", "message.created", "pending.opened", "pending.settled", "tool.started", "tool.ended", "step.completed", "message.completed", "run.completed",
    ]);
  });

  test("from the first live event on, only events are listed", () => {
    const came = [entryOf({ type: "run.completed", run: record.run, runId: "run_1", spaceId: null, at: at(95) }, 0)];
    const log = journal(storedEntries(record), came);
    expect(log.filter((e) => e.at >= Date.parse(at(95))).map((e) => [e.type, e.live])).toEqual([["run.completed", true]]);
    expect(log[0]?.live).toBe(false);
  });

  test("each line of an export has its type", () => {
    const lines = exportLines(record, storedEntries(record)) as { type: string }[];
    expect([...new Set(lines.map((l) => l.type))]).toEqual(["run", "step", "message", "pendingAction", "event"]);
    expect(lines.filter((l) => l.type === "event")).toHaveLength(11);
  });
});
