// All that there is to know of one run, kept up to date while it goes on: the run
// and its messages by its own stream, its steps and waits by the API.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useMemo, useState } from "react";
import { api } from "@/api/client";
import { allPages, ended, type LiveEvent, type Message, type PendingAction, type Run, type Step } from "@shoal-dev/client";
import { useConsole } from "@/app/console";
import { useConnection, useRun } from "@/live/hooks";
import { close, open } from "@/live/store";
import type { Store } from "@shoal-dev/client/live";

/** What is known of a run. */
export interface RunRecord {
  readonly run: Run;
  /** What it wrote, in the spaces that the reader sees. */
  readonly messages: readonly Message[];
  /** Its model calls; null where they are not open to the reader. */
  readonly steps: readonly Step[] | null;
  /** What it waits or waited for, as far as the reader may see it. */
  readonly pending: readonly PendingAction[];
}

/** The keys of the queries of one run. */
export function runKeys(session: string, run: string) {
  const key = ["run", session, run] as const;
  return { all: key, run: [...key, "run"], steps: [...key, "steps"], pending: [...key, "pending"] } as const;
}

/** A run by the API. */
export function useRunQuery(run: string) {
  const { session } = useConsole();
  return useQuery({
    queryKey: runKeys(session, run).run,
    queryFn: () => api.GET("/v1/sessions/{session}/runs/{run}", { params: { path: { session, run } } }),
  });
}

/** The steps of a run; nothing is asked where they are not open to the reader. */
export function useSteps(run: string, every: number | false = false) {
  const { session, may } = useConsole();
  return useQuery({
    queryKey: runKeys(session, run).steps,
    queryFn: async () => (await api.GET("/v1/sessions/{session}/runs/{run}/steps", { params: { path: { session, run } } })).items,
    enabled: may("read_models"),
    refetchInterval: every,
  });
}

/** What a run waits and waited for, in the order of its beginning. */
export function useRunPending(run: string, every: number | false = false) {
  const { session } = useConsole();
  return useQuery({
    queryKey: runKeys(session, run).pending,
    queryFn: () => allPages((cursor) => api.GET("/v1/sessions/{session}/pending-actions", { params: { path: { session }, query: { run, status: "open,answered,expired,canceled", cursor, limit: 200 } } })),
    refetchInterval: every,
  });
}

// Events after which the API returns something new.
const news = /^(step|run|pending|tool-output|tool-input-available)/;

/** The record of a run, and the store of its stream for components that need its events. */
export function useRunRecord(id: string) {
  const { session } = useConsole();
  const queries = useQueryClient();
  const first = useRunQuery(id);
  const steps = useSteps(id);
  const pending = useRunPending(id);
  const [store, drawn] = useFollowed(id);
  // A run that is under way is known to the session's stream, too.
  const known = useRun(id);
  const live = store?.live.runs.get(id) ?? known;
  const connected = useConnection().state === "live";
  useEffect(() => {
    if (connected) void queries.invalidateQueries({ queryKey: runKeys(session, id).all, predicate: (q) => q.state.status === "error" });
  }, [connected, queries, session, id]);
  useEffect(() => {
    if (store === null) return undefined;
    const asked = throttle(300, () => void queries.invalidateQueries({ queryKey: runKeys(session, id).all }));
    const stop = store.tap((event) => {
      if (news.test(event.type)) asked.call();
    });
    return () => {
      stop();
      asked.stop();
    };
  }, [store, queries, session, id]);
  const run = newest(first.data, live);
  const record = useMemo<RunRecord | undefined>(
    () => run && { run, messages: written(store, id), steps: steps.data ?? (steps.isEnabled ? [] : null), pending: pending.data ?? [] },
    // `drawn` counts the stream's events, because its store is changed in place.
    // eslint-disable-next-line react-hooks/exhaustive-deps
    [run, store, drawn, id, steps.data, steps.isEnabled, pending.data],
  );
  return { record, store, problem: first.error ?? steps.error ?? pending.error, retry: () => void queries.invalidateQueries({ queryKey: runKeys(session, id).all }) };
}

// What has ended stays so; else the stream is ahead of the API.
function newest(asked: Run | undefined, live: Run | undefined): Run | undefined {
  if (live === undefined) return asked;
  return asked !== undefined && ended(asked.status) ? asked : live;
}

function written(store: Store | null, run: string): Message[] {
  const mine = [...(store?.live.messages.values() ?? [])].filter((m) => m.runId === run);
  return mine.sort((a, b) => (a.createdAt < b.createdAt ? -1 : a.createdAt > b.createdAt ? 1 : a.seq - b.seq));
}

/**
 * Follows the stream of a run until the run has ended and is complete. Draws anew at
 * most ten times a second, however many deltas come. A browser has six connections
 * to a server: none is held for a run that will not change any more.
 */
function useFollowed(run: string): [store: Store | null, drawn: number] {
  const { session, actor, me } = useConsole();
  // Admins and services see the same whomever they act as.
  const entity = me.role === "entity" ? actor : null;
  const [store, setStore] = useState<Store | null>(null);
  const [drawn, draw] = useState(0);
  useEffect(() => {
    const opened = open({ session, entity, run });
    setStore(opened);
    const soon = throttle(100, () => draw((n) => n + 1));
    let leaving: ReturnType<typeof setTimeout> | undefined;
    const look = () => {
      soon.call();
      const known = opened.live.runs.get(run);
      if (known !== undefined && ended(known.status)) leaving ??= setTimeout(leave, 3000);
    };
    const stops = [opened.subscribe(`run:${run}`, look), opened.tap((_: LiveEvent) => look())];
    let left = false;
    const leave = () => {
      if (!left) close(opened);
      left = true;
    };
    return () => {
      for (const stop of stops) stop();
      clearTimeout(leaving);
      soon.stop();
      leave();
    };
  }, [session, entity, run]);
  return [store, drawn];
}

/** Calls `fn` at most once in `ms`, the last time after the last call. */
export function throttle(ms: number, fn: () => void): { call: () => void; stop: () => void } {
  let timer: ReturnType<typeof setTimeout> | undefined;
  return {
    call: () => {
      timer ??= setTimeout(() => {
        timer = undefined;
        fn();
      }, ms);
    },
    stop: () => clearTimeout(timer),
  };
}
