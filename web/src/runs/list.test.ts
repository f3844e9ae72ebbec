// The list of runs: pages of the API, updated by the stream.
import { describe, expect, test } from "vitest";
import { merged, over, sinceOf, statusOf } from "./list";
import { aRun } from "./testing";

const ids = (runs: ReturnType<typeof merged>) => runs.map((r) => `${r.id} ${r.status}`);

describe("merged", () => {
  test("the stream's state of a listed run is newer, unless the page knows its end", () => {
    const pages = [aRun({ id: "run_3", status: "running" }), aRun({ id: "run_2", status: "completed" })];
    const live = [aRun({ id: "run_3", status: "waiting_tool" }), aRun({ id: "run_2", status: "running" })];
    expect(ids(merged(pages, live, {}, false))).toEqual(["run_3 waiting_tool", "run_2 completed"]);
  });

  test("the page is newer for a run that a service started: the stream does not report it", () => {
    const service = { type: "service", serviceName: "billing", payload: null } as const;
    const pages = over([aRun({ id: "run_1", status: "queued", trigger: service })], [aRun({ id: "run_1", status: "waiting_tool", trigger: service })]);
    expect(ids(merged(pages, [aRun({ id: "run_1", status: "running", trigger: service })], {}, false))).toEqual(["run_1 waiting_tool"]);
  });

  test("a new run comes in at the top; one older than the pages reach waits for its page", () => {
    const pages = [aRun({ id: "run_5" })];
    const live = [aRun({ id: "run_9" }), aRun({ id: "run_1" })];
    expect(ids(merged(pages, live, {}, true))).toEqual(["run_9 running", "run_5 running"]);
    expect(ids(merged(pages, live, {}, false))).toEqual(["run_9 running", "run_5 running", "run_1 running"]);
  });

  test("what does not fit the filters any more goes away", () => {
    const pages = [aRun({ id: "run_1", status: "running" })];
    expect(merged(pages, [aRun({ id: "run_1", status: "completed" })], { status: "under-way" }, false)).toEqual([]);
    expect(merged([], [aRun({ agentId: "other" })], { agent: "shop" }, false)).toEqual([]);
    expect(merged([], [aRun({})], { trigger: "plan" }, false)).toEqual([]);
  });

  test("a run that the server lists for a space stays, though another one triggered it", () => {
    const listed = aRun({ id: "run_1" });
    const wrote = aRun({ id: "run_2" });
    expect(ids(merged([listed], [listed, wrote], { space: "elsewhere" }, false))).toEqual(["run_1 running"]);
    expect(ids(merged([], [wrote], { space: "harbour" }, false))).toEqual(["run_2 running"]);
  });
});

describe("what the API is asked for", () => {
  test("failed only is stronger than a state", () => {
    expect(statusOf({ status: "waiting" })).toBe("waiting_tool,waiting_reply");
    expect(statusOf({ status: "waiting", failed: true })).toBe("failed");
    expect(statusOf({})).toBeUndefined();
  });

  test("the beginning of the last hour is on the minute", () => {
    expect(sinceOf({ within: "hour" }, Date.UTC(2026, 10, 22, 9, 30, 12))).toBe("2026-11-22T08:30:00.000Z");
    expect(sinceOf({}, 0)).toBeUndefined();
  });
});
