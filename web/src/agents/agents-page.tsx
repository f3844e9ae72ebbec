// All agents: those that the server runs, and those that connect.
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Bot, Plus } from "lucide-react";
import { useState } from "react";
import type { Entity, HostedAgent } from "@/client/types";
import { useConsole } from "@/app/console";
import { useEntity } from "@/live/hooks";
import { Badge } from "@/ui/badge";
import { Button } from "@/ui/button";
import { notify, notifyError } from "@/ui/notice";
import { Page } from "@/ui/page";
import { Empty, Failed, Loading } from "@/ui/placeholder";
import { EntityState } from "@/ui/state";
import { duration, Moment, useNow } from "@/ui/time";
import { AdminsOnly } from "./admins-only";
import { getIn, type Json } from "./config/json";
import { NewAgentDialog } from "./new-agent";
import { agentsKey, agentsQuery, allSpacesQuery, entitiesQuery, runsUnderWayQuery, usageTodayQuery } from "./queries";
import { isOfTrial, leftovers, sweep } from "./trial/trial";

export function AgentsPage() {
  return (
    <AdminsOnly title="Agents" why="A config defines an agent's model and what its tools can do.">
      <Agents />
    </AdminsOnly>
  );
}

function Agents() {
  const { session } = useConsole();
  const hosted = useQuery(agentsQuery(session));
  const [isMaking, setMaking] = useState(false);
  return (
    <Page
      title="Agents"
      actions={
        <Button tone="primary" icon={<Plus aria-hidden className="size-4" />} onClick={() => setMaking(true)}>
          New agent
        </Button>
      }
    >
      {hosted.isPending ? (
        <Loading />
      ) : hosted.isError ? (
        <Failed error={hosted.error} retry={() => void hosted.refetch()} />
      ) : (
        <div className="flex max-w-page flex-col gap-8 p-5">
          <Leftovers />
          <Hosted agents={hosted.data} onNew={() => setMaking(true)} />
          <Connected />
        </div>
      )}
      {isMaking && <NewAgentDialog agents={hosted.data ?? []} onClose={() => setMaking(false)} />}
    </Page>
  );
}

function Hosted({ agents, onNew }: { agents: readonly HostedAgent[]; onNew: () => void }) {
  const { session } = useConsole();
  const entities = useQuery(entitiesQuery(session)).data ?? [];
  const ofTrials = new Set(entities.filter(isOfTrial).map((e) => e.id));
  const shown = agents.filter((a) => !ofTrials.has(a.id));
  return (
    <section aria-labelledby="hosted" className="flex flex-col gap-3">
      <h2 id="hosted" className="text-lg font-semibold">
        Hosted agents
      </h2>
      <p className="text-sm text-soft">This server runs their model loop, by the config that you give it.</p>
      {shown.length === 0 ? (
        <Empty
          title="No hosted agents"
          command="shoal agents apply -f agent.yaml"
          action={
            <Button tone="primary" onClick={onNew}>
              New agent
            </Button>
          }
        >
          A hosted agent answers in its spaces, shows cards and forms, and asks people for approval when a tool requires it.
        </Empty>
      ) : (
        <ul className="flex flex-col gap-2">
          {shown.map((a) => (
            <HostedRow key={a.id} agent={a} />
          ))}
        </ul>
      )}
    </section>
  );
}

const money = (cost: number, currency: string): string => new Intl.NumberFormat(undefined, { style: "currency", currency, maximumFractionDigits: cost > 0 && cost < 1 ? 4 : 2 }).format(cost);

function HostedRow({ agent }: { agent: HostedAgent }) {
  const { session } = useConsole();
  const entity = useEntity(agent.id);
  const runs = useQuery(runsUnderWayQuery(session));
  const usage = useQuery(usageTodayQuery(session));
  const config = agent.config as Json;
  const provider = String(getIn(config, ["model", "provider"]) ?? "");
  const underWay = runs.data?.filter((r) => r.agentId === agent.id).length;
  const used = usage.data?.find((row) => row.agentId === agent.id);
  const description = String(getIn(config, ["agent", "description"]) ?? "");
  return (
    <li className="flex flex-wrap items-center gap-x-6 gap-y-2 rounded-lg border border-line bg-surface p-3">
      <div className="flex min-w-0 flex-1 basis-60 items-start gap-3">
        <Bot aria-hidden className="mt-0.5 size-5 shrink-0 text-soft" />
        <div className="min-w-0">
          <h3 className="flex flex-wrap items-center gap-2">
            <Link to="/s/$session/agents/$agent" params={{ session, agent: agent.id }} className="font-medium break-words text-accent underline">
              {entity?.name ?? agent.id}
            </Link>
            {entity !== undefined && <EntityState state={entity.state} />}
            {provider === "script" && <Badge title="Follows a script instead of calling a model.">script</Badge>}
          </h3>
          <p className="text-sm break-all text-soft">
            <code>{agent.id}</code>
          </p>
          {description !== "" && <p className="line-clamp-2 text-sm text-soft">{description}</p>}
        </div>
      </div>
      <dl className="grid w-full grid-cols-[repeat(auto-fit,minmax(7rem,1fr))] gap-x-4 gap-y-1 text-sm sm:w-auto sm:grid-cols-[12rem_4rem_5.5rem_6rem]">
        <Fact name="Model" value={`${provider} ${String(getIn(config, ["model", "name"]) ?? "")}`} />
        <Fact name="Version" value={String(agent.version)} />
        <Fact name="Active runs" value={underWay === undefined ? "…" : underWay === 1 ? "1 run" : `${underWay} runs`} />
        <Fact name="Cost today" value={usage.isPending ? "…" : used === undefined ? money(0, "USD") : money(used.cost, used.currency)} />
      </dl>
    </li>
  );
}

function Fact({ name, value }: { name: string; value: string }) {
  return (
    <div className="min-w-0">
      <dt className="text-xs text-soft">{name}</dt>
      <dd className="break-words tabular-nums">{value}</dd>
    </div>
  );
}

function Connected() {
  const { session } = useConsole();
  const found = useQuery(entitiesQuery(session));
  const agents = (found.data ?? []).filter((e) => e.kind === "agent" && !e.hosted && !isOfTrial(e)).sort((a, b) => a.name.localeCompare(b.name));
  return (
    <section aria-labelledby="connected" className="flex flex-col gap-3">
      <h2 id="connected" className="text-lg font-semibold">
        Connected agents
      </h2>
      <p className="text-sm text-soft">They use their own model and connect through MCP or REST.</p>
      {found.isError ? (
        <Failed error={found.error} retry={() => void found.refetch()} />
      ) : found.isPending ? (
        <Loading lines={2} />
      ) : agents.length === 0 ? (
        <p>
          None yet.{" "}
          <Link to="/s/$session/connect" params={{ session }} className="text-accent underline">
            Connect one
          </Link>
          , or run <code className="rounded bg-sunken px-1">shoal keys create --entity scout</code>.
        </p>
      ) : (
        <ul className="flex flex-col gap-2">
          {agents.map((e) => (
            <ConnectedRow key={e.id} found={e} />
          ))}
        </ul>
      )}
    </section>
  );
}

function ConnectedRow({ found }: { found: Entity }) {
  const entity = useEntity(found.id) ?? found; // the stream's is newer
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-1 rounded-lg border border-line bg-surface p-3">
      <div className="min-w-0 flex-1 basis-48">
        <h3 className="font-medium break-words">{entity.name}</h3>
        <p className="text-sm break-all text-soft">
          <code>{entity.id}</code>
        </p>
        {entity.description !== "" && <p className="line-clamp-2 text-sm text-soft">{entity.description}</p>}
      </div>
      <EntityState state={entity.state} />
      {entity.state === "waiting" && entity.waitEndsAt !== null && <Left until={entity.waitEndsAt} />}
      <span className="text-sm text-soft">{entity.lastSeenAt === null ? "never seen" : <>last seen <Moment at={entity.lastSeenAt} /></>}</span>
    </li>
  );
}

function Left({ until }: { until: string }) {
  const left = Date.parse(until) - useNow();
  return <span className="text-sm tabular-nums">{left > 0 ? `${duration(Math.round(left / 1000) * 1000)} left` : "about to end"}</span>;
}

// Agents and spaces of trials whose page was closed before it could clean up.
function Leftovers() {
  const { session } = useConsole();
  const queries = useQueryClient();
  const entities = useQuery(entitiesQuery(session));
  const spaces = useQuery(allSpacesQuery(session));
  const left = leftovers(entities.data ?? [], spaces.data ?? []);
  const sweeping = useMutation({
    mutationFn: () => sweep(session, left),
    onSuccess: () => notify("Trials cleaned up."),
    onError: notifyError,
    onSettled: () => queries.invalidateQueries({ queryKey: agentsKey(session) }),
  });
  const count = new Set([...left.agents, ...left.spaces]).size;
  if (count === 0) return null;
  return (
    <div className="flex flex-wrap items-center gap-3 rounded-lg border border-line bg-sunken px-4 py-3">
      <p className="min-w-0 flex-1 basis-60 text-sm">{count === 1 ? "One trial was not cleaned up. If it is not in use in another window, clean it up: its agent is deleted and its space closed." : `${count} trials were not cleaned up. If they are not in use in other windows, clean them up: their agents are deleted and their spaces closed.`}</p>
      <Button small busy={sweeping.isPending} onClick={() => sweeping.mutate()}>
        Clean up
      </Button>
    </div>
  );
}
