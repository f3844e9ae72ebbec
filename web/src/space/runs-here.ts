// The runs that concern a space: those that a message of it started, and those that
// wrote to it.
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { api } from "@/api/client";
import { ended, type Run } from "@shoal-dev/client";
import { useConsole } from "@/app/console";
import { useRuns } from "@/live/hooks";
import { fromSpace } from "@/runs/trigger";

/** Runs of a space, the newest first. */
export interface RunsHere {
  readonly all: readonly Run[];
  readonly underWay: readonly Run[];
  /** Failed runs by the message that started them. */
  readonly failed: ReadonlyMap<string, readonly Run[]>;
}

/** The newest runs of a space, kept by the stream. */
export function useRunsHere(space: string): RunsHere {
  const { session, actor } = useConsole();
  const live = useRuns();
  const asked = useQuery({
    queryKey: [session, actor, "runs", "space", space],
    queryFn: () => api.GET("/v1/sessions/{session}/runs", { params: { path: { session }, query: { space, limit: 30 } } }),
  });
  const known = asked.data?.items;
  return useMemo(() => runsHere(space, known ?? [], live), [space, known, live]);
}

/** Merges the fetched runs with those of the stream, which are newer. */
export function runsHere(space: string, asked: readonly Run[], live: readonly Run[]): RunsHere {
  const byId = new Map(asked.map((r) => [r.id, r]));
  for (const r of live) if (byId.has(r.id) || concerns(r, space)) byId.set(r.id, r);
  const all = [...byId.values()].sort((a, b) => (a.createdAt < b.createdAt ? 1 : a.createdAt > b.createdAt ? -1 : a.id < b.id ? 1 : -1));
  const failed = new Map<string, Run[]>();
  for (const r of all) {
    if (r.status !== "failed" || !fromSpace(r.trigger) || r.trigger.spaceId !== space) continue;
    failed.set(r.trigger.messageId, [...(failed.get(r.trigger.messageId) ?? []), r]);
  }
  return { all, underWay: all.filter((r) => !ended(r.status)), failed };
}

function concerns(r: Run, space: string): boolean {
  return (fromSpace(r.trigger) && r.trigger.spaceId === space) || r.pendingToolCalls.some((c) => c.spaceId === space);
}
