import { expect, test } from "vitest";
import { cronWords, readCron } from "./cron";
import { nextTimes, wallOf, wallText, zoneOf } from "./zone";

test.each([
  ["* * * * *", "every minute"],
  ["*/15 * * * *", "every 15 minutes"],
  ["*/15 9-17 * * mon-fri", "every 15 minutes between 9:00 AM and 5:59 PM, Monday to Friday"],
  ["0 * * * *", "every hour"],
  ["5 * * * *", "every hour at minute 5"],
  ["@hourly", "every hour"],
  ["@daily", "at 12:00 AM"],
  ["0 9 * * 1-5", "at 9:00 AM, Monday to Friday"],
  ["0 9,17 * * *", "at 9:00 AM and 5:00 PM"],
  ["30 8 * * 0,6", "at 8:30 AM, on Saturday and Sunday"],
  ["0 0 1 * *", "at 12:00 AM, on day 1 of the month"],
  ["0 0 1 jan,jul *", "at 12:00 AM, on day 1 of the month, in January and July"],
  ["0 0 24 * sun", "at 12:00 AM, on day 24 of the month and also on Sunday"],
  ["0 */6 * * *", "every 6 hours"],
  ["0,30 8-18/5 * * *", "at 8:00 AM, 8:30 AM, 1:00 PM, 1:30 PM, 6:00 PM and 6:30 PM"],
  ["0 9 * * 7", "at 9:00 AM, on Sunday"],
])("%s is %s", (expression, words) => {
  const cron = readCron(expression);
  expect(cron && cronWords(cron)).toBe(words);
});

test.each([[""], ["every morning"], ["0 9 * *"], ["0 0 9 * * *"], ["60 9 * * *"], ["*/0 * * * *"], ["5-1 * * * *"], ["@every 1h"], ["TZ=UTC 0 9 * * *"], ["0 9 * * funday"]])("rejects %s", (expression) => {
  expect(readCron(expression)).toBeUndefined();
});

// The table that also tests the server's calendar.
const friday = "2026-11-20T22:00:00Z";
test.each([
  ["every minute", "* * * * *", "UTC", friday, "2026-11-20T22:01:00Z"],
  ["after, never at", "0 22 * * *", "UTC", friday, "2026-11-21T22:00:00Z"],
  ["a list, a range and a step", "0,30 8-18/5 * * *", "UTC", friday, "2026-11-21T08:00:00Z"],
  ["names of days", "0 9 * * mon-fri", "UTC", friday, "2026-11-23T09:00:00Z"],
  ["7 is Sunday", "0 9 * * 7", "UTC", friday, "2026-11-22T09:00:00Z"],
  ["day of month or of week", "0 0 24 * sun", "UTC", friday, "2026-11-22T00:00:00Z"],
  ["only in leap years", "0 0 29 2 *", "UTC", friday, "2028-02-29T00:00:00Z"],
  ["2100 is not a leap year", "0 0 29 2 *", "UTC", "2096-03-01T00:00:00Z", "2104-02-29T00:00:00Z"],
  ["hourly in a zone of half an hour", "@hourly", "Asia/Kolkata", friday, "2026-11-20T22:30:00Z"],
  ["a zone", "0 9 * * *", "Asia/Tokyo", friday, "2026-11-21T00:00:00Z"],
  ["a zone where it is tomorrow", "0 0 21 11 *", "Asia/Tokyo", "2026-11-20T14:00:00Z", "2026-11-20T15:00:00Z"],
  ["before clocks go forward", "30 2 * * *", "Europe/Berlin", "2026-03-27T12:00:00Z", "2026-03-28T01:30:00Z"],
  ["02:30 does not exist: 03:30", "30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", "2026-03-29T01:30:00Z"],
  ["hourly goes on", "@hourly", "Europe/Berlin", "2026-03-29T00:00:00Z", "2026-03-29T01:00:00Z"],
  ["02:30 comes twice: first", "30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", "2026-10-25T00:30:00Z"],
  ["02:30 comes twice: second", "30 2 * * *", "Europe/Berlin", "2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z"],
  ["02:30 comes twice, not three times", "30 2 * * *", "Europe/Berlin", "2026-10-25T01:30:00Z", "2026-10-26T01:30:00Z"],
  ["midnight does not exist", "0 0 * * *", "America/Santiago", "2026-09-05T12:00:00Z", "2026-09-06T04:00:00Z"],
  ["clocks move by half an hour", "15 2 * * *", "Australia/Lord_Howe", "2026-10-03T12:00:00Z", "2026-10-03T15:45:00Z"],
])("%s", (_, expression, name, after, want) => {
  const [cron, zone] = [readCron(expression), zoneOf(name)];
  if (cron === undefined || zone === undefined) throw new Error("cannot be read");
  expect(new Date(nextTimes(cron, zone, Date.parse(after), 1)[0] ?? 0).toISOString()).toBe(want.replace("Z", ".000Z"));
});

test("returns three times in order", () => {
  const [cron, zone] = [readCron("0 9,17 * * *"), zoneOf("UTC")];
  if (cron === undefined || zone === undefined) throw new Error("cannot be read");
  expect(nextTimes(cron, zone, Date.parse(friday), 3).map((m) => new Date(m).toISOString().slice(0, 16))).toEqual(["2026-11-21T09:00", "2026-11-21T17:00", "2026-11-22T09:00"]);
});

test("returns no times for a day that does not exist", () => {
  const [cron, zone] = [readCron("0 0 31 2 *"), zoneOf("UTC")];
  if (cron === undefined || zone === undefined) throw new Error("cannot be read");
  expect(nextTimes(cron, zone, Date.parse(friday), 3)).toEqual([]);
});

test("rejects an unknown zone", () => {
  expect(zoneOf("Mars/Olympus")).toBeUndefined();
});

test("uses the zone's wall time in form fields", () => {
  const zone = zoneOf("Europe/Berlin");
  const wall = wallOf("2026-07-01T09:00");
  expect(wall !== undefined && new Date(zone?.moments(wall)[0] ?? 0).toISOString()).toBe("2026-07-01T07:00:00.000Z");
  expect(wallText(zone?.wall(Date.parse("2026-07-01T07:00:00Z")) ?? 0)).toBe("2026-07-01T09:00");
  expect(wallOf("tomorrow")).toBeUndefined();
});
