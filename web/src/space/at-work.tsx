// Over the composer: who is at work here at the moment, and since when.
import { LoaderCircle } from "lucide-react";
import type { Run } from "@/api/shapes";
import { useLive, useName } from "@/live/hooks";
import type { LiveSpace } from "@/live/live";
import { Since } from "@/ui/time";
import { StopRun } from "./cancel-run";
import { Reasoning } from "./timeline/reasoning";

/** Runs that a person would wait for and that write nothing here at the moment. */
export function AtWork({ live, runs }: { live: LiveSpace; runs: readonly Run[] }) {
  const store = useLive();
  const writing = new Set(live.order.map((id) => store.live.messages.get(id)).flatMap((m) => (m?.status === "streaming" ? [m.runId] : [])));
  const working = runs.filter((r) => (r.status === "running" || r.status === "queued") && !writing.has(r.id));
  if (working.length === 0) return null;
  return (
    <div className="mx-auto flex w-full max-w-4xl flex-wrap items-center gap-x-4 gap-y-1 px-5 pb-1 text-sm text-soft sm:px-7">
      {working.slice(0, 3).map((r) => (
        <Worker key={r.id} run={r} space={live.space.id} />
      ))}
      {working.length > 3 && <span>and {working.length - 3} more</span>}
    </div>
  );
}

function Worker({ run, space }: { run: Run; space: string }) {
  const name = useName(run.agentId);
  return (
    <>
      <span className="inline-flex items-center gap-1.5">
        <LoaderCircle aria-hidden className="size-3.5 animate-spin" />
        {name} {run.status === "queued" ? "is about to begin" : "is at work"}, <Since at={run.startedAt ?? run.createdAt} />
        <StopRun run={run.id} what={name} />
      </span>
      <Reasoning run={run.id} space={space} />
    </>
  );
}
