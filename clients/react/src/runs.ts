// Runs of hosted and remote agents.
import { useCallback, useMemo } from "react";
import { ended, type Run } from "@shoal-dev/client";
import type { Store } from "@shoal-dev/client/live";
import { useSession } from "./provider.js";
import { toKeys, useList } from "./select.js";
import { useStoreValue } from "./store.js";

/** A run as a page shows it. */
export interface RunView {
  /** Undefined if the stream has not reported it: active runs are known, and those that ended meanwhile. */
  readonly run: Run | undefined;
  /** Whether it has not ended. */
  readonly active: boolean;
  /** Cancels it. What it has written remains. */
  readonly cancel: () => Promise<void>;
}

/** One run: that of a message is its `runId`. */
export function useRun(id: string): RunView {
  const session = useSession();
  const run = useStoreValue(`run:${id}`, (s) => s.live.runs.get(id));
  const cancel = useCallback(async () => {
    await session.shoal.api.POST("/v1/sessions/{session}/runs/{run}/cancel", { params: { path: { session: session.shoal.session, run: id } } });
  }, [session, id]);
  return useMemo(() => ({ run, active: run !== undefined && !ended(run.status), cancel }), [run, cancel]);
}

const onRuns = toKeys("runs");

/** The active runs that messages of a space have started, or that wait for an answer in it; without a space all of them. */
export function useActiveRuns(space?: string): readonly Run[] {
  const select = useCallback((s: Store): readonly Run[] => [...s.live.runs.values()].filter((r) => !ended(r.status) && (space === undefined || concerns(r, space))), [space]);
  return useList(onRuns, select);
}

function concerns(run: Run, space: string): boolean {
  return (run.trigger.type === "space_message" && "spaceId" in run.trigger && run.trigger.spaceId === space) || run.pendingToolCalls.some((c) => c.spaceId === space);
}
