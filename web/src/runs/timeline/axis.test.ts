// The axis of a run: what is drawn to scale, and what is squeezed.
import { describe, expect, test } from "vitest";
import { axisOf } from "./axis";
import type { Span, SpanKind } from "./spans";

const span = (kind: SpanKind, from: number, to: number | null): Span => ({ id: `${kind} ${from}`, kind, step: 0, name: kind, from, to, about: false, failed: false, note: "" });
const day = 86_400_000;

describe("axisOf", () => {
  test("without long waits, time is drawn to scale from one end to the other", () => {
    const axis = axisOf([span("model", 0, 1000), span("tool", 1000, 1500), span("model", 1500, 2000)], 0, 2000);
    expect([0, 500, 1000, 2000].map(axis.place)).toEqual([0, 0.25, 0.5, 1]);
    expect(axis.gaps).toEqual([]);
  });

  test("three days of waiting take a fifth of the axis, and the work around them stays readable", () => {
    const axis = axisOf([span("model", 0, 1000), span("wait", 1000, 3 * day), span("model", 3 * day, 3 * day + 1000)], 0, 3 * day + 1000);
    const [gap] = axis.gaps;
    expect(axis.gaps).toHaveLength(1);
    expect([gap?.from, gap?.to]).toEqual([1000, 3 * day]);
    expect((gap?.right ?? 0) - (gap?.left ?? 0)).toBeCloseTo(0.2);
    expect(axis.place(1000)).toBeCloseTo(0.4);
    expect(axis.place(3 * day + 1000) - axis.place(3 * day)).toBeCloseTo(0.4);
  });

  test("a tool that lets an hour pass is squeezed as a wait is", () => {
    expect(axisOf([span("model", 0, 1000), span("tool", 1000, 3_601_000), span("model", 3_601_000, 3_602_000)], 0, 3_602_000).gaps).toHaveLength(1);
  });

  test("however many waits there are, the work has more than half of the axis", () => {
    const spans = Array.from({ length: 20 }, (_, i) => span("model", i * day, i * day + 1000));
    const axis = axisOf(spans, 0, 19 * day + 1000);
    expect(axis.gaps).toHaveLength(19);
    expect(axis.gaps.reduce((n, g) => n + g.right - g.left, 0)).toBeLessThan(0.45);
  });

  test("a run that only waits has no gaps to shorten", () => {
    expect(axisOf([span("wait", 0, null)], 0, day).gaps).toEqual([]);
  });

  test("places never leave the axis and never go back", () => {
    const axis = axisOf([span("queue", 0, 10), span("model", 10, 500), span("wait", 500, 9000), span("model", 9000, 9100)], 0, 9100);
    const places = [-50, 0, 5, 10, 400, 500, 4000, 9000, 9050, 9100, 99_999].map(axis.place);
    expect(places).toEqual([...places].sort((a, b) => a - b));
    expect([Math.min(...places), Math.max(...places)]).toEqual([0, 1]);
  });

  test.each([2003, 350])("labels have room between them and before a gap (work of %d ms)", (work) => {
    const axis = axisOf([span("model", 0, work), span("wait", work, day), span("model", day, day + 10)], 0, day + 10);
    for (const [i, t] of axis.ticks.entries()) {
      if (i > 0) expect(t.at - (axis.ticks[i - 1]?.at ?? 0)).toBeGreaterThan(0.09);
      for (const g of axis.gaps) expect(g.left > t.at && g.left - t.at < 0.13).toBe(false);
    }
    expect(axis.ticks[0]?.label).toBe("0");
  });

  test("marks are at round times of the clock", () => {
    const labels = (ms: number) => axisOf([span("model", 0, ms)], 0, ms).ticks.map((t) => t.label);
    expect(labels(477_000)).toEqual(["0", "2 min", "4 min", "6 min"]);
    expect(labels(60_000)).toEqual(["0", "15 s", "30 s", "45 s"]);
    expect(labels(4 * 3_600_000)).toEqual(["0", "1 h", "2 h", "3 h"]);
    expect(labels(2000)).toEqual(["0", "500 ms", "1.0 s", "1.5 s"]);
  });

  test("an instant has an axis, too", () => {
    expect(axisOf([], 5, 5).place(5)).toBe(0);
  });
});
