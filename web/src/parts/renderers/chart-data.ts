// What a chart is drawn from: {type: bar|line|area|pie, x, y: [names], series?,
// data: [objects], unit?}. With `series` the values of that member make a line each.
import { chartTypes, type Fields, isFields, member } from "./shape";

/** The most points that are drawn; the table beside the chart has all. */
export const mostPoints = 2000;
const mostSeries = 12;

export interface Series {
  readonly name: string;
  /** One value for each position on the axis; null if it has no value. */
  readonly values: readonly (number | null)[];
}

export interface ChartData {
  readonly type: (typeof chartTypes)[number];
  readonly title: string;
  readonly x: string;
  readonly unit: string;
  /** The places on the axis. */
  readonly labels: readonly string[];
  readonly series: readonly Series[];
  /** How many points were left out. */
  readonly left: number;
}

/** The chart that a value describes; undefined for one that shows nothing. */
export function chartOf(value: unknown): ChartData | undefined {
  const type = chartTypes.find((t) => t === member(value, "type"));
  const x = member(value, "x");
  const data = member(value, "data");
  if (type === undefined || typeof x !== "string" || !Array.isArray(data)) return undefined;
  const all = data.filter(isFields);
  const given = member(value, "y");
  const names = (Array.isArray(given) ? given : [given]).filter((n): n is string => typeof n === "string").slice(0, mostSeries);
  const split = member(value, "series");
  const rows = all.slice(0, Math.max(1, Math.floor(mostPoints / Math.max(1, names.length))));
  const { labels, series } = typeof split === "string" && names[0] !== undefined ? bySeries(rows, x, names[0], split) : byName(rows, x, names);
  if (series.every((s) => s.values.every((v) => v === null))) return undefined;
  return { type, title: textOf(member(value, "title")), x, unit: textOf(member(value, "unit")), labels, series, left: all.length - rows.length };
}

function byName(rows: readonly Fields[], x: string, names: readonly string[]) {
  return { labels: rows.map((r) => textOf(member(r, x))), series: names.map((name) => ({ name, values: rows.map((r) => numberOf(member(r, name))) })) };
}

function bySeries(rows: readonly Fields[], x: string, y: string, split: string) {
  const labels = [...new Set(rows.map((r) => textOf(member(r, x))))];
  const place = new Map(labels.map((l, i) => [l, i]));
  const series = new Map<string, (number | null)[]>();
  for (const row of rows) {
    const name = textOf(member(row, split));
    if (!series.has(name) && series.size >= mostSeries) continue;
    const values = series.get(name) ?? labels.map(() => null);
    series.set(name, values);
    values[place.get(textOf(member(row, x))) ?? 0] = numberOf(member(row, y));
  }
  return { labels, series: [...series].map(([name, values]) => ({ name, values })) };
}

// Beyond this, differences of two values would overflow.
const most = 1e300;
const numberOf = (v: unknown): number | null => (typeof v === "number" && Math.abs(v) <= most ? v : null);
const textOf = (v: unknown): string => (typeof v === "string" ? v.slice(0, 200) : typeof v === "number" || typeof v === "boolean" ? String(v) : "");

/** Round numbers from at or below `low` to at or above `high`, about `wanted` of them. */
export function ticks(low: number, high: number, wanted = 5): number[] {
  if (low === high) return low === 0 ? [0, 1] : low > 0 ? [0, low] : [low, 0];
  const rough = (high - low) / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough) ?? rough;
  const first = Math.floor(low / step) * step;
  const out: number[] = [];
  for (let i = 0; i < 30; i++) {
    const t = first + i * step;
    out.push(Number(t.toPrecision(12)));
    if (t >= high) break;
  }
  return out;
}
