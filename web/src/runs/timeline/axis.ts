// The common time axis of a run. Time in which nothing works (the run is suspended) is
// squeezed where it is long, so that a run which waited for three days stays
// readable; squeezed time is marked and labelled wherever it is drawn. Pure.
import { duration } from "@/ui/time";
import type { Span } from "./spans";

/** A stretch of squeezed time, with its place on the axis. */
export interface Gap {
  readonly from: number;
  readonly to: number;
  /** Where it begins and ends, 0 to 1. */
  readonly left: number;
  readonly right: number;
}

/** A mark on the axis: the time since the run, or the last gap, began. */
export interface Tick {
  readonly at: number;
  readonly label: string;
}

export interface Axis {
  readonly from: number;
  readonly to: number;
  /** The place of a time on the axis, 0 to 1; what is outside of it is at its ends. */
  readonly place: (at: number) => number;
  readonly gaps: readonly Gap[];
  readonly ticks: readonly Tick[];
}

interface Stretch {
  readonly from: number;
  readonly to: number;
  readonly squeezed: boolean;
  weight: number;
  left: number;
}

// Under this a wait is drawn as long as it is.
const shortest = 2000;
// A tool that takes longer than this, and than the model by far, only waits.
const longestWork = 60_000;

/** The axis from one time to another, for what is in between. */
export function axisOf(spans: readonly Span[], from: number, to: number): Axis {
  const end = Math.max(to, from + 1);
  const stretches = cut(spans, from, end);
  const total = stretches.reduce((n, s) => n + s.weight, 0);
  let left = 0;
  for (const s of stretches) {
    s.left = left / total;
    left += s.weight;
  }
  const place = (at: number): number => {
    if (at <= from) return 0;
    if (at >= end) return 1;
    const s = stretches.find((x) => at < x.to) ?? stretches[stretches.length - 1];
    if (s === undefined) return 0;
    return s.left + ((at - s.from) / (s.to - s.from)) * (s.weight / total);
  };
  const gaps = stretches.filter((s) => s.squeezed).map((s) => ({ from: s.from, to: s.to, left: s.left, right: s.left + s.weight / total }));
  return { from, to: end, place, gaps, ticks: ticks(stretches, total) };
}

// Cuts the time into what is drawn to scale and what is squeezed.
function cut(spans: readonly Span[], from: number, to: number): Stretch[] {
  const length = (s: Span) => (s.from === null ? 0 : (s.to ?? to) - s.from);
  const thinking = spans.filter((s) => s.kind === "model").reduce((n, s) => n + length(s), 0);
  // A tool that lets hours pass is a wait as well.
  const works = (s: Span) => s.kind === "model" || s.kind === "queue" || (s.kind === "tool" && length(s) <= Math.max(longestWork, 10 * thinking));
  const busy = union(
    spans
      .filter((s) => works(s) && s.from !== null)
      .map((s) => [Math.max(from, s.from ?? from), Math.min(to, s.to ?? to)] as const)
      .filter(([a, b]) => a < b),
  );
  const working = busy.reduce((n, [a, b]) => n + (b - a), 0);
  const out: Stretch[] = [];
  let at = from;
  const add = (until: number, idle: boolean) => {
    if (until <= at) return;
    // Readers without access to the steps cannot know what is idle.
    const squeezed = idle && thinking > 0 && until - at > Math.max(shortest, working);
    out.push({ from: at, to: until, squeezed, weight: until - at, left: 0 });
    at = until;
  };
  for (const [a, b] of busy) {
    add(a, true);
    add(b, false);
  }
  add(to, true);
  // All gaps together take at most two fifths of the axis.
  const gaps = out.filter((s) => s.squeezed);
  for (const s of gaps) s.weight = working * Math.min(0.25, 0.65 / gaps.length);
  return out;
}

function union(ranges: readonly (readonly [number, number])[]): [number, number][] {
  const out: [number, number][] = [];
  for (const [a, b] of [...ranges].sort((x, y) => x[0] - y[0])) {
    const last = out[out.length - 1];
    if (last !== undefined && a <= last[1]) last[1] = Math.max(last[1], b);
    else out.push([a, b]);
  }
  return out;
}

// Marks at round times, counted anew after each gap.
function ticks(stretches: readonly Stretch[], total: number): Tick[] {
  const every = round(total / 5);
  const out: Tick[] = [];
  let since = stretches[0]?.from ?? 0;
  for (const [i, s] of stretches.entries()) {
    if (s.squeezed) {
      since = s.to;
      continue;
    }
    for (let t = since + Math.ceil((s.from - since) / every) * every; t < s.to; t += every) {
      if (t === since && i > 0) continue; // the gap's own label ends there
      out.push({ at: s.left + ((t - s.from) / (s.to - s.from)) * (s.weight / total), label: t === since ? "0" : duration(t - since) });
    }
  }
  return roomy(out).filter((t) => !stretches.some((s) => s.squeezed && s.left > t.at && s.left - t.at < 0.14));
}

// Labels need room between them, and before the end.
function roomy(all: readonly Tick[]): Tick[] {
  const out: Tick[] = [];
  for (const t of all) if (t.at < (t.label.length > 6 ? 0.85 : 0.9) && t.at - (out[out.length - 1]?.at ?? -1) > 0.09) out.push(t);
  return out;
}

const steps = [1, 2, 5];
// Above ten seconds people count in minutes and hours: in seconds.
const clock = [15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400];
const day = 86_400_000;

function round(ms: number): number {
  if (ms > day) return day * decimal(ms / day);
  if (ms > 10_000) return (clock.find((s) => s * 1000 >= ms) ?? 86_400) * 1000;
  return decimal(ms);
}

function decimal(n: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(n, 1)));
  return (steps.find((s) => s * power >= n) ?? 10) * power;
}
