// The state of the plan form, and the calls that it makes. Pure functions.
import type { FieldError, Plan } from "@shoal-dev/client";
import { ownZone, wallOf, wallText, zoneOf } from "./zone";

/** The values of the form. */
export interface PlanFields {
  readonly agent: string;
  readonly name: string;
  readonly instruction: string;
  readonly description: string;
  readonly kind: "cron" | "once";
  readonly cron: string;
  /** The single time as wall time in the time zone: 2026-11-22T09:00. */
  readonly at: string;
  readonly timeZone: string;
}

/** The form of a new plan. */
export function newFields(agent: string): PlanFields {
  return { agent, name: "", instruction: "", description: "", kind: "cron", cron: "0 9 * * mon-fri", at: "", timeZone: ownZone() };
}

/** The form of an existing plan. */
export function fieldsOf(plan: Plan): PlanFields {
  const zone = zoneOf(plan.timeZone || "UTC");
  return {
    agent: plan.agentId,
    name: plan.name,
    instruction: plan.instruction,
    description: plan.description,
    kind: plan.cron === null ? "once" : "cron",
    cron: plan.cron ?? "",
    at: plan.scheduledAt === null || zone === undefined ? "" : wallText(zone.wall(Date.parse(plan.scheduledAt))),
    timeZone: plan.timeZone || "UTC",
  };
}

/** The request for the server, or the invalid field. */
export function bodyOf(f: PlanFields): { readonly body: PlanBody } | { readonly wrong: readonly FieldError[] } {
  const about = { name: f.name.trim(), instruction: f.instruction, description: f.description, timeZone: f.timeZone.trim() };
  if (f.kind === "cron") return { body: { ...about, cron: f.cron.trim() } };
  const wall = wallOf(f.at);
  const zone = zoneOf(f.timeZone.trim() || "UTC");
  if (zone === undefined) return { wrong: [{ location: "body.timeZone", message: "is not a time zone: use a name such as Europe/Berlin, or UTC" }] };
  if (wall === undefined) return { wrong: [{ location: "body.scheduledAt", message: "needs a day and a time" }] };
  return { body: { ...about, scheduledAt: new Date(zone.moments(wall)[0] ?? wall).toISOString() } };
}

/** The schedule of a request: `cron` or `scheduledAt`. */
export interface PlanBody {
  readonly name: string;
  readonly instruction: string;
  readonly description: string;
  readonly timeZone: string;
  readonly cron?: string;
  readonly scheduledAt?: string;
}

/** The server's error about a field of the form. */
export function wrongField(errors: readonly FieldError[], field: keyof PlanBody): string | undefined {
  const found = errors.filter((e) => e.location === `body.${field}`);
  return found.length === 0 ? undefined : found.map((e) => `It ${e.message}.`.replace(/\.\.$/, ".")).join(" ");
}
