// Over the composer: who is at work here at the moment, and since when.
import { LoaderCircle, TriangleAlert } from "lucide-react";
import type { LiveSpace, Run } from "@shoal-dev/client";
import { useLive, useName } from "@/live/hooks";
import { Since } from "@/ui/time";
import { StopRun } from "./cancel-run";
import { Reasoning } from "./timeline/reasoning";

/** Runs that a person would wait for and that write nothing here at the moment. */
export function AtWork({ live, runs }: { live: LiveSpace; runs: readonly Run[] }) {
  const store = useLive();
  const writing = new Set(live.order.map((id) => store.live.messages.get(id)).flatMap((m) => (m?.status === "streaming" ? [m.runId] : [])));
  const working = runs.filter((r) => (r.status === "running" || r.status === "queued") && (!writing.has(r.id) || r.stalledSince !== null));
  if (working.length === 0) return null;
  return (
    <div className="flex w-full max-w-read flex-wrap items-center gap-x-4 gap-y-1 px-5 pb-1 text-sm text-soft">
      {working.slice(0, 3).map((r) => (
        <Worker key={r.id} run={r} space={live.space.id} />
      ))}
      {working.length > 3 && <span>and {working.length - 3} more</span>}
    </div>
  );
}

/** What a run does that has not ended, after the name of its agent. */
export function stateOf(run: Run): string {
  if (run.stalledSince !== null) return "gives no sign of life";
  if (run.status !== "queued") return "is at work";
  if (run.waitingForProgram) return "waits for a program that serves it";
  return run.queuedBehind === null ? "is about to begin" : "takes the next message when it is done";
}

function Worker({ run, space }: { run: Run; space: string }) {
  const name = useName(run.agentId);
  return (
    <>
      <span className="inline-flex items-center gap-1.5">
        {run.stalledSince === null ? <LoaderCircle aria-hidden className="size-3.5 animate-spin" /> : <TriangleAlert aria-hidden className="size-3.5 text-warn" />}
        {name} {stateOf(run)}, <Since at={run.stalledSince ?? run.startedAt ?? run.createdAt} />
        <StopRun run={run.id} what={name} />
      </span>
      <Reasoning run={run.id} space={space} />
    </>
  );
}
