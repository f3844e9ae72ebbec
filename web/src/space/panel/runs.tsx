// What runs in a space: everything under way with its Stop, and the newest run.
import { useState } from "react";
import { ended, type Run } from "@shoal-dev/client";
import { useName } from "@/live/hooks";
import { RunPanel } from "@/runs/run-panel";
import { triggerText } from "@/runs/trigger";
import { classes } from "@/ui/classes";
import { RunState } from "@/ui/state";
import { Moment, Since } from "@/ui/time";
import { StopRun } from "../cancel-run";
import type { RunsHere } from "../runs-here";

const shownAtMost = 12;

export function RunsTab({ runs }: { runs: RunsHere }) {
  const [asked, ask] = useState<string>();
  const chosen = runs.all.find((r) => r.id === asked) ?? runs.all[0];
  if (chosen === undefined) return <p className="p-4 text-soft">No agent has run here yet. Ask one: mention it in a message.</p>;
  const listed = [...runs.underWay, ...runs.all.filter((r) => ended(r.status))].slice(0, Math.max(shownAtMost, runs.underWay.length));
  return (
    <div className="flex flex-col gap-3 p-2">
      <RunPanel key={chosen.id} run={chosen.id} />
      <section aria-labelledby="runs-here">
        <h2 id="runs-here" className="px-2 text-xs font-semibold tracking-wide text-soft uppercase">
          Runs here
        </h2>
        <ul>
          {listed.map((run) => (
            <RunRow key={run.id} run={run} chosen={run.id === chosen.id} choose={() => ask(run.id)} />
          ))}
        </ul>
      </section>
    </div>
  );
}

function RunRow({ run, chosen, choose }: { run: Run; chosen: boolean; choose: () => void }) {
  const name = useName(run.agentId);
  const underWay = !ended(run.status);
  return (
    <li className={classes("flex items-center gap-2 rounded-md px-2 py-1", chosen ? "bg-accent-soft" : "hover:bg-sunken")}>
      <button type="button" aria-pressed={chosen} onClick={choose} className="min-h-8 touch:min-h-11 min-w-0 flex-1 text-left">
        <span className="block truncate font-medium">{name}</span>
        <span className="flex flex-wrap items-center gap-1.5 text-sm text-soft">
          <RunState status={run.status} />
          {underWay ? <Since at={run.startedAt ?? run.createdAt} /> : <Moment at={run.createdAt} />}
        </span>
        <span className="block truncate text-sm text-soft">{triggerText(run.trigger)}</span>
      </button>
      {underWay && <StopRun run={run.id} what={`${name}'s run`} />}
    </li>
  );
}
