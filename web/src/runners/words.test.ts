import { describe, expect, it } from "vitest";
import { audience, limits, modeWords } from "./words";

const report = { version: "1.0.0", kind: "codex", dir: "~/app", worktree: false, mode: "ask", respondTo: [], approve: [], maxTurnsPerHour: 0, maxTokensPerDay: 0, maxCostPerDay: 0 };

describe("what a runner says", () => {
  it("names the audience", () => {
    expect(audience(["owner", "ben"])).toBe("its owner, @ben");
    expect(audience(["members"])).toBe("everybody in its spaces");
  });
  it("names only the limits that there are", () => {
    expect(limits(report)).toBe("");
    expect(limits({ ...report, maxTurnsPerHour: 30, maxTokensPerDay: 2_000_000, maxCostPerDay: 5 })).toBe("30 turns an hour, 2,000,000 tokens a day, $5.00 a day");
  });
  it("keeps a mode that it does not know", () => {
    expect(modeWords("read")).toBe("reads only");
    expect(modeWords("new")).toBe("new");
  });
});
