// What a run did, beside the space: its state, timeline, tokens and cost.
import { useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useEffect, useMemo, useRef } from "react";
import { ended, ShoalError, type Run } from "@shoal-dev/client";
import { useConsole } from "@/app/console";
import { useName, useRun } from "@/live/hooks";
import { Failed, Loading } from "@/ui/placeholder";
import { RunState } from "@/ui/state";
import { useNow } from "@/ui/time";
import { CancelRun } from "./actions";
import { ErrorNotice } from "./error-notice";
import { runKeys, useRunPending, useRunQuery, useSteps } from "./record";
import { Elapsed } from "./run-head";
import { axisOf } from "./timeline/axis";
import { spansOf } from "./timeline/spans";
import { Waterfall } from "./timeline/waterfall";
import { money, tokens } from "./words";

/** The compact view of a run; `run` is its id. It holds no stream of its own. */
export function RunPanel({ run: id }: { run: string }) {
  const asked = useRunQuery(id);
  const live = useRun(id);
  const run = live !== undefined && (asked.data === undefined || !ended(asked.data.status)) ? live : asked.data;
  if (run === undefined) {
    if (asked.isError) return ShoalError.from(asked.error).status === 404 ? <p className="p-4 text-soft">This run is not to be seen from here.</p> : <Failed error={asked.error} retry={() => void asked.refetch()} />;
    return <Loading />;
  }
  return <Panel run={run} />;
}

function Panel({ run }: { run: Run }) {
  const { session } = useConsole();
  const queries = useQueryClient();
  const agent = useName(run.agentId);
  const u = run.usage;
  // The stream of the session reports the run's status, not its steps: they are
  // asked for while it works, and whenever it has changed.
  const working = run.status === "running" || run.status === "queued";
  const steps = useSteps(run.id, working && 1500);
  const pending = useRunPending(run.id);
  const lastRun = useRef(run);
  useEffect(() => {
    if (lastRun.current === run) return;
    lastRun.current = run;
    void queries.invalidateQueries({ queryKey: runKeys(session, run.id).all });
  }, [queries, session, run]);
  const clock = useNow(ended(run.status) ? 3_600_000 : 1000);
  const now = run.endedAt === null ? clock : Date.parse(run.endedAt);
  const spans = useMemo(() => spansOf(run, steps.data ?? [], pending.data ?? []).filter((s) => s.kind !== "step"), [run, steps.data, pending.data]);
  const axis = useMemo(() => axisOf(spans, Date.parse(run.createdAt), now), [spans, run.createdAt, now]);
  return (
    <section aria-label={`Run of ${agent}`} className="flex flex-col gap-3 p-3">
      <div className="flex flex-wrap items-center gap-2">
        <RunState status={run.status} />
        <span className="text-sm tabular-nums">
          <Elapsed run={run} />
        </span>
        <span className="ml-auto">
          <CancelRun run={run} small />
        </span>
      </div>
      <p className="text-sm text-soft">
        <span className="font-medium text-ink">{agent}</span>, {run.steps === 1 ? "1 step" : `${run.steps} steps`}, {tokens(u.inputTokens)} tokens in, {tokens(u.outputTokens)} out{u.cost > 0 && `, ${money(u.cost, u.currency)}`}
      </p>
      {run.status === "failed" && <ErrorNotice run={run} />}
      <div className="overflow-hidden rounded-lg border border-line bg-surface">
        <Waterfall spans={spans} axis={axis} now={now} label={`Timeline of the run of ${agent}`} />
      </div>
      <Link to="/s/$session/runs/$run" params={{ session, run: run.id }} className="inline-flex items-center self-start text-sm text-accent touch:min-h-11 underline underline-offset-2">
        Open run
      </Link>
    </section>
  );
}
