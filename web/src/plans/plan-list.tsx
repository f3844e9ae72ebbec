// A list of plans: the next run, the last run, and actions.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { CalendarClock, CircleCheck, Pause, Pencil, Play, Trash2, XCircle } from "lucide-react";
import { useState } from "react";
import { api } from "@/api/client";
import type { Plan } from "@shoal-dev/client";
import { useConsole } from "@/app/console";
import { useName } from "@/live/hooks";
import { Badge, type Tone } from "@/ui/badge";
import { IconButton } from "@/ui/button";
import { Confirm } from "@/ui/confirm";
import { notifyError } from "@/ui/notice";
import { Moment } from "@/ui/time";
import { cronWords, readCron } from "./cron";
import { momentWords, PlanDialog } from "./plan-dialog";
import { ownZone } from "./zone";

const states: Record<Plan["status"], { readonly tone: Tone; readonly word: string; readonly icon: typeof Play }> = {
  pending: { tone: "ok", word: "planned", icon: CalendarClock },
  paused: { tone: "warn", word: "paused", icon: Pause },
  completed: { tone: "neutral", word: "over", icon: CircleCheck },
  canceled: { tone: "neutral", word: "canceled", icon: XCircle },
};

/** The plans, sorted by their next run. If `named`, each shows its agent. */
export function PlanList({ plans, named = false }: { plans: readonly Plan[]; named?: boolean }) {
  const [changing, setChanging] = useState<Plan>();
  const [deleting, setDeleting] = useState<Plan>();
  const { session } = useConsole();
  const queries = useQueryClient();
  const sorted = [...plans].sort((a, b) => (a.nextRunAt ?? "~").localeCompare(b.nextRunAt ?? "~") || a.id.localeCompare(b.id));
  return (
    <>
      <ul className="flex flex-col gap-2">
        {sorted.map((plan) => (
          <PlanRow key={plan.id} plan={plan} named={named} onChange={() => setChanging(plan)} onDelete={() => setDeleting(plan)} />
        ))}
      </ul>
      {changing !== undefined && <PlanDialog plan={changing} agents={[{ id: changing.agentId }]} onClose={() => setChanging(undefined)} />}
      {deleting !== undefined && (
        <Confirm
          title={`Delete the plan “${deleting.name}”?`}
          action="Delete"
          onClose={() => setDeleting(undefined)}
          run={async () => {
            await api.DELETE("/v1/sessions/{session}/plans/{plan}", { params: { path: { session, plan: deleting.id } } });
            await queries.invalidateQueries({ queryKey: ["plans", session] });
          }}
        >
          <p>The plan does not run again. Runs that it has already started continue. To stop the plan for a while, pause it instead.</p>
        </Confirm>
      )}
    </>
  );
}

function PlanRow({ plan, named, onChange, onDelete }: { plan: Plan; named: boolean; onChange: () => void; onDelete: () => void }) {
  const state = states[plan.status];
  const Icon = state.icon;
  const isOver = plan.status === "canceled";
  const { may } = useConsole();
  return (
    <li className="flex flex-wrap items-start gap-x-4 gap-y-2 rounded-lg border border-line bg-surface p-3">
      <div className="min-w-0 flex-1 basis-64">
        <div className="flex flex-wrap items-center gap-2">
          <h3 className="font-medium break-words">{plan.name}</h3>
          <Badge tone={state.tone} icon={<Icon aria-hidden className="size-3" />}>
            {state.word}
          </Badge>
        </div>
        {named && <Owner agent={plan.agentId} />}
        <p className="text-sm">{whenWords(plan)}</p>
        {plan.instruction !== "" && <p className="line-clamp-2 text-sm text-soft">{plan.instruction}</p>}
      </div>
      <dl className="grid grid-cols-[auto_1fr] gap-x-3 text-sm sm:w-64">
        <dt className="text-soft">Next run</dt>
        <dd>{plan.nextRunAt === null || plan.status !== "pending" ? "none" : <time dateTime={plan.nextRunAt}>{momentWords(plan.nextRunAt, ownZone())}</time>}</dd>
        <dt className="text-soft">Last run</dt>
        <dd>{plan.lastRunAt === null ? "none yet" : <LastRun plan={plan} at={plan.lastRunAt} />}</dd>
      </dl>
      {may("manage") && (
        <div className="flex">
          {(plan.status === "pending" || plan.status === "paused") && <PauseButton plan={plan} />}
          {!isOver && (
            <IconButton label={`Edit ${plan.name}`} onClick={onChange}>
              <Pencil aria-hidden className="size-4" />
            </IconButton>
          )}
          <IconButton label={`Delete ${plan.name}`} onClick={onDelete}>
            <Trash2 aria-hidden className="size-4" />
          </IconButton>
        </div>
      )}
    </li>
  );
}

function Owner({ agent }: { agent: string }) {
  const { session } = useConsole();
  const name = useName(agent);
  return (
    <p className="text-sm">
      <Link to="/s/$session/agents/$agent" params={{ session, agent }} search={{ tab: "triggers" }} className="text-accent underline">
        {name}
      </Link>
    </p>
  );
}

function LastRun({ plan, at }: { plan: Plan; at: string }) {
  const { session } = useConsole();
  if (plan.lastRunId === null) return <Moment at={at} />;
  return (
    <Link to="/s/$session/runs/$run" params={{ session, run: plan.lastRunId }} className="text-accent underline [&_time]:text-accent">
      <Moment at={at} />
    </Link>
  );
}

function PauseButton({ plan }: { plan: Plan }) {
  const { session } = useConsole();
  const queries = useQueryClient();
  const isPaused = plan.status === "paused";
  const changing = useMutation({
    mutationFn: () => api.PATCH("/v1/sessions/{session}/plans/{plan}", { params: { path: { session, plan: plan.id } }, body: { status: isPaused ? "pending" : "paused" } }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ["plans", session] }),
    onError: notifyError,
  });
  return (
    <IconButton label={isPaused ? `Resume ${plan.name}` : `Pause ${plan.name}`} disabled={changing.isPending} onClick={() => changing.mutate()}>
      {isPaused ? <Play aria-hidden className="size-4" /> : <Pause aria-hidden className="size-4" />}
    </IconButton>
  );
}

/** When a plan runs: the meaning of its expression, or its single time. */
export function whenWords(plan: Plan): string {
  const zone = plan.timeZone || "UTC";
  if (plan.cron !== null) {
    const cron = readCron(plan.cron);
    return cron === undefined ? `${plan.cron} (${zone})` : `${cronWords(cron).replace(/^./, (c) => c.toUpperCase())} (${zone})`;
  }
  return plan.scheduledAt === null ? "Never" : `Once: ${momentWords(plan.scheduledAt, zone)} (${zone})`;
}
