// Wall clocks of time zones, by what the browser knows of them. Where clocks go
// forward, a time that does not exist comes as much later as they move; where they
// go back, one that exists twice comes twice. Pure.
import type { Cron } from "./cron";

const dayMs = 86_400_000;

/** A reader of wall clocks in a zone; undefined for a name that is no zone. */
export function zoneOf(name: string): Zone | undefined {
  try {
    return new Zone(new Intl.DateTimeFormat("en-US", { timeZone: name, hourCycle: "h23", year: "numeric", month: "numeric", day: "numeric", hour: "numeric", minute: "numeric", second: "numeric" }));
  } catch {
    return undefined;
  }
}

/** The zone of this browser. */
export function ownZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** One time zone. A wall time is told as the ms that it would be in UTC. */
export class Zone {
  constructor(private readonly format: Intl.DateTimeFormat) {}

  /** What clocks on the wall show at a moment. */
  wall(moment: number): number {
    const parts = Object.fromEntries(this.format.formatToParts(moment).map((p) => [p.type, Number(p.value)]));
    return Date.UTC(parts.year ?? 0, (parts.month ?? 1) - 1, parts.day, parts.hour, parts.minute, parts.second) + (moment % 1000);
  }

  /** The moments at which clocks on the wall show a time, earliest first; never none. */
  moments(wall: number): readonly number[] {
    const [before, after] = [wall - dayMs, wall + dayMs].map((m) => this.wall(m) - m) as [number, number];
    const there = [...new Set([wall - before, wall - after])].filter((m) => this.wall(m) === wall).sort((a, b) => a - b);
    return there.length > 0 ? there : [wall - before];
  }
}

/** The next times of an expression after a moment, at most `most`, and none beyond nine years. */
export function nextTimes(cron: Cron, zone: Zone, after: number, most: number): readonly number[] {
  const found = new Set<number>();
  const now = zone.wall(after);
  // A day early: a time that moved out of a gap may belong to the day before.
  let day = Math.floor(now / dayMs) * dayMs - dayMs;
  for (let n = 0; n < 9 * 366 && found.size < most; n++, day += dayMs) {
    if (!fits(cron, new Date(day))) continue;
    for (const m of ofDay(cron, zone, day, now - clocksMove, most)) if (m > after) found.add(m);
  }
  return [...found].sort((a, b) => a - b).slice(0, most);
}

/** More than clocks ever move at once. */
const clocksMove = 3 * 3_600_000;

// The moments of one day, from a wall time on: enough of them to have the first
// ones in order, wherever clocks move.
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

// Where both kinds of days are restricted, either is enough.
function fits({ days, months, weekdays }: Cron, day: Date): boolean {
  if (months !== undefined && !months.includes(day.getUTCMonth() + 1)) return false;
  const ofMonth = days?.includes(day.getUTCDate());
  const ofWeek = weekdays?.includes(day.getUTCDay());
  if (ofMonth !== undefined && ofWeek !== undefined) return ofMonth || ofWeek;
  return ofMonth ?? ofWeek ?? true;
}

/** A wall time for a field of a form: 2026-11-22T09:00. */
export function wallText(wall: number): string {
  return new Date(wall).toISOString().slice(0, 16);
}

/** The wall time that a field of a form holds; undefined for none. */
export function wallOf(text: string): number | undefined {
  const wall = Date.parse(`${text}Z`);
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(text) && !Number.isNaN(wall) ? wall : undefined;
}
