// Wall clocks of time zones, as the browser knows them. When clocks go forward, a time that
// does not exist is shifted by the change; when they go back, a time that exists twice is
// returned twice. Pure functions.
import type { Cron } from "./cron";

const dayMs = 86_400_000;

/** The wall clock of a zone; undefined for an unknown name. */
export function zoneOf(name: string): Zone | undefined {
  try {
    return new Zone(new Intl.DateTimeFormat("en-US", { timeZone: name, hourCycle: "h23", year: "numeric", month: "numeric", day: "numeric", hour: "numeric", minute: "numeric", second: "numeric" }));
  } catch {
    return undefined;
  }
}

/** The time zone of this browser. */
export function ownZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** One time zone. A wall time is represented by the ms that it would be in UTC. */
export class Zone {
  constructor(private readonly format: Intl.DateTimeFormat) {}

  /** The wall time of a moment. */
  wall(moment: number): number {
    const parts = Object.fromEntries(this.format.formatToParts(moment).map((p) => [p.type, Number(p.value)]));
    return Date.UTC(parts.year ?? 0, (parts.month ?? 1) - 1, parts.day, parts.hour, parts.minute, parts.second) + (moment % 1000);
  }

  /** The moments with a wall time, the earliest first; at least one. */
  moments(wall: number): readonly number[] {
    const [before, after] = [wall - dayMs, wall + dayMs].map((m) => this.wall(m) - m) as [number, number];
    const there = [...new Set([wall - before, wall - after])].filter((m) => this.wall(m) === wall).sort((a, b) => a - b);
    return there.length > 0 ? there : [wall - before];
  }
}

/** The next times of an expression after a moment: at most `most`, and none after nine years. */
export function nextTimes(cron: Cron, zone: Zone, after: number, most: number): readonly number[] {
  const found = new Set<number>();
  const now = zone.wall(after);
  // Start a day early: a time that was shifted out of a gap may belong to the day before.
  let day = Math.floor(now / dayMs) * dayMs - dayMs;
  for (let n = 0; n < 9 * 366 && found.size < most; n++, day += dayMs) {
    if (!fits(cron, new Date(day))) continue;
    for (const m of ofDay(cron, zone, day, now - clocksMove, most)) if (m > after) found.add(m);
  }
  return [...found].sort((a, b) => a - b).slice(0, most);
}

/** More than clocks ever change at once. */
const clocksMove = 3 * 3_600_000;

// The moments of one day from a wall time on: enough to have the first ones in order,
// however clocks change.
function ofDay(cron: Cron, zone: Zone, day: number, from: number, most: number): readonly number[] {
  const moments: number[] = [];
  let last = Infinity;
  for (const hour of cron.hours) {
    for (const minute of cron.minutes) {
      const wall = day + hour * 3_600_000 + minute * 60_000;
      if (wall < from) continue;
      if (wall > last) return moments;
      moments.push(...zone.moments(wall));
      if (wall >= from + 2 * clocksMove && moments.length >= most) last = Math.min(last, wall + clocksMove);
    }
  }
  return moments;
}

// If both kinds of days are restricted, either one is enough.
function fits({ days, months, weekdays }: Cron, day: Date): boolean {
  if (months !== undefined && !months.includes(day.getUTCMonth() + 1)) return false;
  const ofMonth = days?.includes(day.getUTCDate());
  const ofWeek = weekdays?.includes(day.getUTCDay());
  if (ofMonth !== undefined && ofWeek !== undefined) return ofMonth || ofWeek;
  return ofMonth ?? ofWeek ?? true;
}

/** A wall time as the value of a form field: 2026-11-22T09:00. */
export function wallText(wall: number): string {
  return new Date(wall).toISOString().slice(0, 16);
}

/** The wall time of a form field; undefined if it is empty. */
export function wallOf(text: string): number | undefined {
  const wall = Date.parse(`${text}Z`);
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(text) && !Number.isNaN(wall) ? wall : undefined;
}
