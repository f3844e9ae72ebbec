// Runs as a table whose rows exist only while they are in sight.
import { Link } from "@tanstack/react-router";
import { useVirtualizer } from "@tanstack/react-virtual";
import { type RefObject, useEffect, useLayoutEffect, useRef, useState } from "react";
import type { Run } from "@shoal-dev/client";
import { useConsole } from "@/app/console";
import { useName } from "@/live/hooks";
import { classes } from "@/ui/classes";
import { RunState } from "@/ui/state";
import { Moment } from "@/ui/time";
import { Elapsed } from "./run-head";
import { TriggerWords } from "./trigger";
import { errorHelp, shortMoney, tokens } from "./words";

const columns = "lg:grid-cols-[9.5rem_7.5rem_minmax(8rem,1fr)_7rem_5rem_2.5rem_7.5rem_3.5rem]";

interface Props {
  runs: readonly Run[];
  /** What scrolls. */
  box: RefObject<HTMLDivElement | null>;
  /** There are older ones on the server. */
  more: boolean;
  /** Called when the end comes into sight. */
  onEnd: () => void;
}

export function RunTable({ runs, box, more, onEnd }: Props) {
  const body = useRef<HTMLDivElement>(null);
  const [above, setAbove] = useState(0);
  useLayoutEffect(() => setAbove(body.current?.offsetTop ?? 0), [runs.length > 0]);
  const rows = useVirtualizer({ count: runs.length, getScrollElement: () => box.current, estimateSize: () => 40, overscan: 10, scrollMargin: above, getItemKey: (i) => runs[i]?.id ?? i });
  const items = rows.getVirtualItems();
  const last = items[items.length - 1]?.index ?? -1;
  useEffect(() => {
    if (last >= runs.length - 1) onEnd();
  }, [last, runs.length, onEnd]);
  return (
    <div role="table" aria-label="Runs" aria-rowcount={more ? -1 : runs.length + 1} className="text-sm">
      <div role="rowgroup" className="hidden lg:block">
        <div role="row" aria-rowindex={1} className={classes("grid gap-x-3 border-b border-line bg-ground px-5 py-1.5 text-xs text-soft", columns)}>
          {["State", "Agent", "Started by", "Started", "Took"].map((name) => (
            <span key={name} role="columnheader">
              {name}
            </span>
          ))}
          {["Steps", "Tokens", "Cost"].map((name) => (
            <span key={name} role="columnheader" className="text-right">
              {name}
            </span>
          ))}
        </div>
      </div>
      <div role="rowgroup" ref={body} className="relative" style={{ height: rows.getTotalSize() }}>
        {items.map((item) => {
          const run = runs[item.index];
          if (run === undefined) return null;
          return (
            <div key={item.key} role="row" aria-rowindex={item.index + 2} ref={rows.measureElement} data-index={item.index} className="absolute inset-x-0 top-0" style={{ transform: `translateY(${item.start - above}px)` }}>
              <Row run={run} />
            </div>
          );
        })}
      </div>
    </div>
  );
}

function Row({ run }: { run: Run }) {
  const { session } = useConsole();
  const agent = useName(run.agentId);
  const u = run.usage;
  return (
    <div role="presentation" className={classes("relative grid grid-cols-[auto_minmax(0,1fr)_auto] items-center gap-x-3 gap-y-1 border-b border-line bg-surface px-5 py-2 hover:bg-sunken", columns)}>
      <span role="cell">
        <RunState status={run.status} />
      </span>
      <span role="cell" className="min-w-0 truncate font-medium">
        {/* The link covers the row: all of it can be pressed. */}
        <Link to="/s/$session/runs/$run" params={{ session, run: run.id }} className="after:absolute after:inset-0 focus-visible:outline-none focus-visible:after:outline-2 focus-visible:after:-outline-offset-2 focus-visible:after:outline-accent">
          {agent}
        </Link>
      </span>
      <span role="cell" className="order-3 col-span-3 min-w-0 text-soft lg:order-none lg:col-span-1">
        <TriggerWords trigger={run.trigger} />
        {run.status === "failed" && run.error !== null ? <span className="line-clamp-2 text-bad">{errorHelp(run.error.code).happened}</span> : null}
      </span>
      <span role="cell" className="text-right lg:text-left">
        <Moment at={run.startedAt ?? run.createdAt} />
      </span>
      <div role="presentation" className="order-4 col-span-3 flex gap-x-3 text-soft tabular-nums lg:contents">
        <span role="cell" className="max-lg:min-w-20 lg:text-ink">
          <Elapsed run={run} />
        </span>
        <span role="cell" className="lg:text-right lg:text-ink">
          {run.steps}
          <span className="lg:sr-only"> {run.steps === 1 ? "step" : "steps"}</span>
        </span>
        <span role="cell" className="ml-auto truncate text-right lg:ml-0 lg:text-ink" title={`${u.inputTokens} in, ${u.cachedInputTokens} of them cached; ${u.outputTokens} out, ${u.reasoningTokens} of them reasoning`}>
          {tokens(u.inputTokens)} <span className="text-soft">in</span>, {tokens(u.outputTokens)} <span className="text-soft">out</span>
        </span>
      </div>
      <span role="cell" className="hidden text-right tabular-nums lg:block" title={u.cost === 0 ? "No price of the model is known" : undefined}>
        {shortMoney(u.cost, u.currency)}
      </span>
    </div>
  );
}
