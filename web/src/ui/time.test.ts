// Moments and durations as text.
import { describe, expect, it } from "vitest";
import { exactTime } from "@/runs/words";
import { momentWords } from "@/plans/plan-dialog";
import { duration, shortMoment, timeOfDay } from "./time";

describe("a time of the day is written the same everywhere", () => {
  const at = new Date(2026, 10, 26, 9, 5, 7, 42);
  const language = new Intl.DateTimeFormat(undefined, { timeStyle: "short" }).format(at);
  it("as the language does", () => expect(timeOfDay(at)).toBe(language));
  it("alone today, with the day in this year, and not at all in another", () => {
    const short = (now: Date) => shortMoment(at, now);
    expect(short(new Date(2026, 10, 26, 23, 59))).toBe(language);
    expect(short(new Date(2026, 10, 27, 0, 1))).toBe(`Nov 26, ${language}`);
    expect(short(new Date(2027, 0, 1))).toBe("Nov 26, 2026");
  });
  it("to the millisecond in the log of a run", () => expect(exactTime(at.getTime())).toMatch(/^9:05:07\.042\sAM$/));
  it("in the time zone of a plan", () => expect(momentWords("2026-11-26T08:05:00Z", "Europe/Berlin")).toMatch(/^Thu, Nov 26(, \d+)?, 9:05 AM$/));
});

describe("a duration", () => {
  it.each([
    [-5, "0 ms"],
    [412, "412 ms"],
    [999.7, "1.0 s"],
    [3400, "3.4 s"],
    [9960, "10 s"],
    [59_400, "59 s"],
    [59_700, "1 min"],
    [125_000, "2 min 5 s"],
    [599_700, "10 min"],
    [3_599_900, "1 h"],
    [11_400_000, "3 h 10 min"],
    [200_000_000, "2 days"],
  ])("of %d ms is %s", (ms, said) => expect(duration(ms)).toBe(said));
});
