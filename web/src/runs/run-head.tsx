// The head of the inspector: how the run stands, what started it, what it used.
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { ended, type Run } from "@shoal-dev/client";
import { useConsole } from "@/app/console";
import { useEntities, useName } from "@/live/hooks";
import { label } from "@/parts/renderers/words";
import { RunState } from "@/ui/state";
import { duration, Moment, useNow } from "@/ui/time";
import { ErrorNotice } from "./error-notice";
import { awaitedReply } from "./reply";
import { SpaceLink, TriggerLine } from "./trigger";
import { allTokens, elapsed, errorHelp, money } from "./words";

/** `quiet` leaves out why it ended, where the page says it elsewhere. */
export function RunHead({ run, quiet }: { run: Run; quiet: boolean }) {
  const { session, may } = useConsole();
  const agent = useName(run.agentId);
  const u = run.usage;
  return (
    <div className="flex flex-col gap-3 border-b border-line bg-surface px-5 py-3">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <RunState status={run.status} />
        <p className="min-w-0 text-sm text-soft">
          {may("read_settings") ? (
            <Link to="/s/$session/agents/$agent" params={{ session, agent: run.agentId }} className="text-accent underline underline-offset-2">
              {agent}
            </Link>
          ) : (
            <span className="text-ink">{agent}</span>
          )}{" "}
          was started <TriggerLine trigger={run.trigger} />
        </p>
      </div>
      <Waits run={run} />
      <dl className="grid grid-cols-3 gap-x-4 gap-y-2 text-sm sm:flex sm:flex-wrap sm:gap-x-6">
        <Fact name="Started">{run.startedAt === null ? "not yet" : <Moment at={run.startedAt} />}</Fact>
        <Fact name={ended(run.status) ? "Took" : "Since then"}>
          <Elapsed run={run} />
        </Fact>
        <Fact name="Steps">
          {run.steps}
          <span className="text-soft"> of {run.maxSteps}</span>
        </Fact>
        <Fact name="Tokens in">{allTokens(u.inputTokens)}</Fact>
        <Fact name="Tokens out">{allTokens(u.outputTokens)}</Fact>
        <Fact name="Cached">{allTokens(u.cachedInputTokens)}</Fact>
        <Fact name="Reasoning">{allTokens(u.reasoningTokens)}</Fact>
        <Fact name="Cost">{u.cost !== 0 ? money(u.cost, u.currency) : <span className="text-soft">{u.inputTokens + u.outputTokens === 0 ? "none" : "price unknown"}</span>}</Fact>
        {run.traceId !== undefined && (
          <Fact name="Trace">
            <code className="text-xs break-all">{run.traceId}</code>
          </Fact>
        )}
        {run.depth > 0 && (
          <Fact name="Depth">
            <span title="Number of agents that started one another before this run">{run.depth}</span>
          </Fact>
        )}
      </dl>
      {run.limitReached !== undefined && (
        <p className="text-sm">{errorHelp(run.limitReached).happened} It then answered with what it knew.</p>
      )}
      {!quiet && <ErrorNotice run={run} />}
    </div>
  );
}

// What it waits for now, with the way to it.
function Waits({ run }: { run: Run }) {
  const { session } = useConsole();
  const entities = useEntities();
  if (run.partOf !== undefined)
    return (
      <p className="text-sm">
        Its message was read in the middle of{" "}
        <Link to="/s/$session/runs/$run" params={{ session, run: run.partOf }} className="text-accent underline underline-offset-2">
          another run
        </Link>
        , which has the work and the answer.
      </p>
    );
  if (run.status === "waiting_reply") return <p className="text-sm">It waits for {awaitedReply(run, (id) => entities.find((e) => e.id === id)?.name ?? id)}.</p>;
  if (run.pendingToolCalls.length === 0) return null;
  return (
    <ul className="flex flex-col gap-1 text-sm">
      {run.pendingToolCalls.map((c) => (
        <li key={c.pendingActionId}>
          Needs an answer{c.spaceId === null && " from a service or an admin"}:{" "}
          <Link to="/s/$session/approvals" params={{ session }} search={{ pending: c.pendingActionId }} className="text-accent underline underline-offset-2">
            {label(c.toolName)}
          </Link>
          {c.spaceId !== null && <> in <SpaceLink space={c.spaceId} /></>}
        </li>
      ))}
    </ul>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt className="text-xs text-soft">{name}</dt>
      <dd className="tabular-nums">{children}</dd>
    </div>
  );
}

/** How long a run goes on, or went on; it counts while it does. */
export function Elapsed({ run }: { run: Run }) {
  const now = useNow(ended(run.status) ? 3_600_000 : 1000);
  const ms = elapsed(run, now);
  return <>{ms === null ? "–" : duration(ms)}</>;
}
