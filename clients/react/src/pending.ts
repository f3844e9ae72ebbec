// What runs wait for: approvals, questions, and results of client tools.
import { useCallback, useMemo } from "react";
import type { PendingAction, PendingAnswer } from "@shoal-dev/client";
import type { Store } from "@shoal-dev/client/live";
import { useSession } from "./provider.js";
import { toKeys, useList } from "./select.js";
import { useStoreValue } from "./store.js";

/** What runs wait for. */
export interface PendingActions {
  /** The open ones, the oldest first. Not all of them can be answered by this caller: `by` says by whom. */
  readonly actions: readonly PendingAction[];
  /** Answers one: `{approved}`, `{answer}`, `{result}` or `{error}`. The first answer wins; a different one rejects with a ConflictError. */
  readonly answer: (id: string, answer: PendingAnswer) => Promise<PendingAction>;
}

const onPending = toKeys("pending");

/** The open pending actions of a space, or of all spaces. */
export function usePendingActions(space?: string): PendingActions {
  const select = useCallback((s: Store): readonly PendingAction[] => [...s.live.pending.values()].filter((p) => p.status === "open" && (space === undefined || p.spaceId === space)).sort(byAge), [space]);
  const actions = useList(onPending, select);
  const answer = useAnswer();
  return useMemo(() => ({ actions, answer }), [actions, answer]);
}

/** The open pending action that a part of a message shows; undefined if it waits for nothing. */
export function usePendingActionOf(partId: string): PendingAction | undefined {
  return useStoreValue("pending", (s) => {
    for (const p of s.live.pending.values()) if (p.partId === partId && p.status === "open") return p;
    return undefined;
  });
}

/** Answers pending actions, and shows the outcome without waiting for the stream. */
export function useAnswer(): PendingActions["answer"] {
  const session = useSession();
  return useCallback(
    async (id, answer) => {
      const pendingAction = await session.shoal.answer(id, answer);
      const { spaceId, runId, answeredAt, createdAt } = pendingAction;
      session.store.share([{ type: pendingAction.status === "open" ? "pending.voted" : "pending.settled", pendingAction, spaceId, runId, at: answeredAt ?? createdAt }]);
      return pendingAction;
    },
    [session],
  );
}

function byAge(a: PendingAction, b: PendingAction): number {
  return a.createdAt < b.createdAt ? -1 : a.createdAt > b.createdAt ? 1 : a.id < b.id ? -1 : 1;
}
