// Moments and durations in the reader's language. A moment is short; its title has the full
// date and time.
import { useEffect, useState } from "react";

const clock = new Intl.DateTimeFormat(undefined, { timeStyle: "short" });
const day = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });
const dateOfYear = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", year: "numeric" });
const whole = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "medium" });

/** A time of the day as the reader's language writes it: 6:34 PM, 18:34. Without a time zone, in the reader's. */
export const timeOfDay = (at: Date | number, timeZone?: string): string => (timeZone === undefined ? clock : new Intl.DateTimeFormat(undefined, { timeStyle: "short", timeZone })).format(at);

/** A moment in few words: the time if it is today, else with the day, and with the year if it is another one. */
export function shortMoment(moment: Date, now: Date): string {
  if (moment.toDateString() === now.toDateString()) return timeOfDay(moment);
  return moment.getFullYear() === now.getFullYear() ? `${day.format(moment)}, ${timeOfDay(moment)}` : dateOfYear.format(moment);
}

/** A moment; its title is the full date and time. */
export function Moment({ at }: { at: string }) {
  const moment = new Date(at);
  return (
    <time dateTime={at} title={whole.format(moment)} className="whitespace-nowrap text-soft">
      {shortMoment(moment, new Date())}
    </time>
  );
}

/** A duration in milliseconds as text: 412 ms, 3.4 s, 2 min 5 s, 3 h 10 min. */
export function duration(ms: number): string {
  if (Math.round(ms) < 1000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 9950) return `${(ms / 1000).toFixed(1)} s`;
  // Round before splitting: 60 seconds are a minute.
  const s = Math.round(ms / 1000);
  if (s < 60) return `${s} s`;
  const m = Math.floor(s / 60);
  if (m < 60) return `${m} min${and(s % 60, "s")}`;
  const h = Math.floor(m / 60);
  return h < 48 ? `${h} h${and(m % 60, "min")}` : `${Math.floor(h / 24)} days`;
}

const and = (n: number, unit: string): string => (n === 0 ? "" : ` ${n} ${unit}`);

/** The current time in ms, updated every `every` ms. */
export function useNow(every = 1000): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), every);
    return () => clearInterval(timer);
  }, [every]);
  return now;
}

/** How long something has lasted. */
export function Since({ at }: { at: string }) {
  const now = useNow();
  return <span className="tabular-nums">{duration(now - Date.parse(at))}</span>;
}
