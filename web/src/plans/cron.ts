// Cron expressions: what they mean in words, and their next times. The server decides when
// a plan runs; this previews an expression. Pure functions.
import { timeOfDay } from "@/ui/time";

/** The five fields, each with its matching values; undefined for any. */
export interface Cron {
  readonly minutes: readonly number[];
  readonly hours: readonly number[];
  readonly days: readonly number[] | undefined;
  readonly months: readonly number[] | undefined;
  /** 0 is Sunday. */
  readonly weekdays: readonly number[] | undefined;
  /** The fields as text. */
  readonly written: readonly string[];
}

const descriptors: Readonly<Record<string, string>> = {
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
  "@monthly": "0 0 1 * *",
  "@weekly": "0 0 * * 0",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@hourly": "0 * * * *",
};

const monthNames = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const dayNames = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/** Parses an expression; returns undefined if it is invalid. */
export function readCron(expression: string): Cron | undefined {
  const trimmed = expression.trim().toLowerCase();
  const written = (descriptors[trimmed] ?? trimmed).split(/\s+/);
  if (written.length !== 5) return undefined;
  const [minute = "", hour = "", day = "", month = "", weekday = ""] = written;
  const minutes = values(minute, 0, 59);
  const hours = values(hour, 0, 23);
  const days = values(day, 1, 31);
  const months = values(month, 1, 12, monthNames, 1);
  const weekdays = values(weekday, 0, 7, dayNames, 0);
  if (minutes === undefined || hours === undefined || days === undefined || months === undefined || weekdays === undefined) return undefined;
  const unlessAny = (field: string, list: readonly number[]) => (isAny(field) ? undefined : list);
  return {
    minutes,
    hours,
    days: unlessAny(day, days),
    months: unlessAny(month, months),
    weekdays: unlessAny(weekday, [...new Set(weekdays.map((d) => d % 7))].sort((a, b) => a - b)),
    written,
  };
}

const isAny = (field: string): boolean => field === "*" || field === "?";

function values(field: string, least: number, most: number, names: readonly string[] = [], base = 0): readonly number[] | undefined {
  const found = new Set<number>();
  for (const item of field.split(",")) {
    const match = /^(\*|\?|[a-z0-9]+)(?:-([a-z0-9]+))?(?:\/(\d+))?$/.exec(item);
    if (match === null) return undefined;
    const [, first = "", last, step] = match;
    const valueOf = (text: string) => (names.includes(text) ? names.indexOf(text) + base : /^\d+$/.test(text) ? Number(text) : NaN);
    const any = isAny(first);
    if (any && last !== undefined) return undefined;
    const from = any ? least : valueOf(first);
    const to = any ? (most === 7 ? 6 : most) : last !== undefined ? valueOf(last) : step !== undefined ? most : from;
    const by = step === undefined ? 1 : Number(step);
    if (!(from >= least && to <= most && from <= to && by >= 1)) return undefined;
    for (let n = from; n <= to; n += by) found.add(n);
  }
  return [...found].sort((a, b) => a - b);
}

/** The expression in words: "at 9:00 AM, Monday to Friday". */
export function cronWords(cron: Cron): string {
  const parts = [timeWords(cron), dayWords(cron), cron.months === undefined ? "" : `in ${spans(cron.months, (m) => longMonths[m - 1] ?? "")}`];
  return parts.filter((p) => p !== "").join(", ");
}

const longMonths = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"];
const longDays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const two = (n: number): string => String(n).padStart(2, "0");
const time = (hour: number, minute: number): string => timeOfDay(Date.UTC(2000, 0, 1, hour, minute), "UTC");

function timeWords({ minutes, hours, written }: Cron): string {
  const [minute = "", hour = ""] = written;
  const step = /^(?:\*|0)\/(\d+)$/.exec(minute)?.[1];
  const allHours = hours.length === 24;
  const during = allHours ? "" : ` between ${spans(hours, (h) => time(h, 0), (h) => time(h, 59))}`;
  if (minutes.length === 60) return `every minute${during}`;
  if (step !== undefined) return `every ${step} minutes${during}`;
  const hourStep = /^(?:\*|0)\/(\d+)$/.exec(hour)?.[1];
  const only = minutes.length === 1 ? (minutes[0] ?? 0) : undefined;
  if (allHours) return only === 0 ? "every hour" : `every hour at minute ${list(minutes.map(String))}`;
  if (hourStep !== undefined && only !== undefined) return `every ${hourStep} hours${only === 0 ? "" : ` at minute ${only}`}`;
  if (minutes.length * hours.length <= 6) return `at ${list(hours.flatMap((h) => minutes.map((m) => time(h, m))))}`;
  return `at minute ${list(minutes.map(String))} of the hours ${spans(hours, two)}`;
}

function dayWords({ days, weekdays }: Cron): string {
  const ofMonth = days === undefined ? "" : `on day ${spans(days, String)} of the month`;
  const ofWeek = weekdays === undefined ? "" : weekWords(weekdays);
  if (ofMonth !== "" && ofWeek !== "") return `${ofMonth} and also on ${ofWeek.replace(/^on /, "")}`;
  return ofMonth !== "" ? ofMonth : ofWeek !== "" ? ofWeek : "";
}

function weekWords(weekdays: readonly number[]): string {
  if (weekdays.length === 7) return "";
  // Weeks start on Monday.
  const fromMonday = weekdays.map((d) => (d + 6) % 7).sort((a, b) => a - b);
  const days = spans(fromMonday, (d) => longDays[(d + 1) % 7] ?? "");
  return days.includes(" to ") ? days : `on ${days}`;
}

// Three or more consecutive values are a range.
function spans(values: readonly number[], first: (n: number) => string, last: (n: number) => string = first): string {
  const isEnds = first !== last;
  const words: string[] = [];
  for (let i = 0; i < values.length; ) {
    let j = i;
    while (j + 1 < values.length && values[j + 1] === (values[j] ?? 0) + 1) j++;
    const [a, b] = [values[i] ?? 0, values[j] ?? 0];
    if (isEnds) words.push(`${first(a)} and ${last(b)}`);
    else if (j - i >= 2) words.push(`${first(a)} to ${last(b)}`);
    else for (let k = i; k <= j; k++) words.push(first(values[k] ?? 0));
    i = j + 1;
  }
  return isEnds ? words.join(" or ") : list(words);
}

function list(words: readonly string[]): string {
  return words.length <= 1 ? (words[0] ?? "") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}
