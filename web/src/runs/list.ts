// The list of runs: pages of the API, updated by the stream. Pure.
import { ended, type Run } from "@shoal-dev/client";
import { fromSpace } from "@/runs/trigger";

/** What the address of the page asks for. */
export interface Wanted {
  readonly agent?: string | undefined;
  /** One of the groups below. */
  readonly status?: string | undefined;
  readonly space?: string | undefined;
  /** The type of its trigger. */
  readonly trigger?: string | undefined;
  /** Begun within the last hour, day or week. */
  readonly within?: "hour" | "day" | "week" | undefined;
  /** The same as the group "failed", in addresses of earlier versions. */
  readonly failed?: boolean | undefined;
}

/** Groups of states that people ask for, as the API takes them. */
export const groups = {
  "under-way": { name: "Under way", status: "queued,running,waiting_tool,waiting_reply" },
  waiting: { name: "Waiting for somebody", status: "waiting_tool,waiting_reply" },
  completed: { name: "Completed", status: "completed" },
  failed: { name: "Failed", status: "failed" },
  canceled: { name: "Canceled", status: "canceled" },
} as const;

const hour = 3_600_000;
const spans = { hour, day: 24 * hour, week: 7 * 24 * hour };

/** The moment since which runs are asked for, on the minute, so that it is one question for a while. */
export function sinceOf(wanted: Wanted, now: number): string | undefined {
  if (wanted.within === undefined) return undefined;
  return new Date(Math.floor((now - spans[wanted.within]) / 60_000) * 60_000).toISOString();
}

/** The states that are asked for, for the API; undefined for all. */
export function statusOf(wanted: Wanted): string | undefined {
  if (wanted.failed === true) return groups.failed.status;
  const group = wanted.status === undefined ? undefined : groups[wanted.status as keyof typeof groups];
  return group?.status ?? wanted.status;
}

/** Older pages with the newest page, fetched again, on top. */
export function over(pages: readonly Run[], newest: readonly Run[]): Run[] {
  const listed = new Set(newest.map((r) => r.id));
  return [...newest, ...pages.filter((r) => !listed.has(r.id))];
}

/**
 * The runs to show, the newest first. The stream's state of a run is newer than a
 * page's, except for a run that has ended according to the page, and for runs that
 * no space started, which the stream does not report. A run of the stream that is on
 * no page is added if it passes the filters and is not older than the loaded pages.
 */
export function merged(pages: readonly Run[], live: readonly Run[], wanted: Wanted, more: boolean): Run[] {
  const byId = new Map(pages.map((r) => [r.id, r]));
  const oldest = pages[pages.length - 1]?.id;
  for (const r of live) {
    const known = byId.get(r.id);
    const newer = known === undefined ? !more || oldest === undefined || r.id > oldest : !ended(known.status) && r.trigger.type === "space_message";
    if (newer) byId.set(r.id, r);
  }
  const listed = new Set(pages.map((p) => p.id));
  return [...byId.values()].filter((r) => fits(r, wanted, listed.has(r.id))).sort((a, b) => (a.id < b.id ? 1 : a.id > b.id ? -1 : 0));
}

// Whether a run wrote to a space is known to the server alone: what it listed stays.
function fits(r: Run, wanted: Wanted, listed: boolean): boolean {
  const states = statusOf(wanted);
  if (states !== undefined && !states.split(",").includes(r.status)) return false;
  if (wanted.trigger !== undefined && r.trigger.type !== wanted.trigger) return false;
  if (wanted.agent !== undefined && r.agentId !== wanted.agent) return false;
  if (wanted.space === undefined || listed) return true;
  return (fromSpace(r.trigger) && r.trigger.spaceId === wanted.space) || r.pendingToolCalls.some((c) => c.spaceId === wanted.space);
}
