// Durations as text.
import { describe, expect, it } from "vitest";
import { duration } from "./time";

describe("a duration", () => {
  it.each([
    [-5, "0 ms"],
    [412, "412 ms"],
    [999.7, "1.0 s"],
    [3400, "3.4 s"],
    [9960, "10 s"],
    [59_400, "59 s"],
    [59_700, "1 min 0 s"],
    [125_000, "2 min 5 s"],
    [599_700, "10 min 0 s"],
    [3_599_900, "1 h 0 min"],
    [11_400_000, "3 h 10 min"],
    [200_000_000, "2 days"],
  ])("of %d ms is %s", (ms, said) => expect(duration(ms)).toBe(said));
});
