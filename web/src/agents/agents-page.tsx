// All agents: those that the server runs, and those that connect.
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { useState } from "react";
import type { Entity, HostedAgent } from "@shoal-dev/client";
import { useConsole } from "@/app/console";
import { useFreshActs } from "@/app/fresh-acts";
import { isOfTrial } from "@/app/trials";
import { useEntity } from "@/live/hooks";
import { money } from "@/runs/words";
import { Avatar } from "@/ui/avatar";
import { Badge } from "@/ui/badge";
import { Button } from "@/ui/button";
import { classes } from "@/ui/classes";
import { notify, notifyError } from "@/ui/notice";
import { Page } from "@/ui/page";
import { Empty, Failed, Loading } from "@/ui/placeholder";
import { EntityState } from "@/ui/state";
import { duration, Moment, useNow } from "@/ui/time";
import { Activity } from "./activity";
import { SettingsOnly } from "./settings-only";
import { getIn, type Json } from "./config/json";
import { NewAgentDialog } from "./new-agent";
import { agentsKey, agentsQuery, allSpacesQuery, entitiesQuery, runsUnderWayQuery, usageTodayQuery } from "./queries";
import { leftovers, sweep } from "./trial/trial";
import { WakeNote } from "./wake-note";

export function AgentsPage() {
  useFreshActs();
  return (
    <SettingsOnly title="Agents" why="A config defines an agent's model and what its tools can do.">
      <Agents />
    </SettingsOnly>
  );
}

function Agents() {
  const { session, may } = useConsole();
  const hosted = useQuery(agentsQuery(session));
  const [isMaking, setMaking] = useState(false);
  return (
    <Page
      title="Agents"
      actions={
        <>
          <RunnersLink />
          {may("manage") && (
            <Button tone="primary" icon={<Plus aria-hidden className="size-4" />} onClick={() => setMaking(true)}>
              New agent
            </Button>
          )}
        </>
      }
    >
      {hosted.isPending ? (
        <Loading />
      ) : hosted.isError ? (
        <Failed error={hosted.error} retry={() => void hosted.refetch()} />
      ) : (
        <div className="flex max-w-page flex-col gap-8 p-5">
          {may("manage") && <Leftovers />}
          <Hosted agents={hosted.data} onNew={may("manage") ? () => setMaking(true) : undefined} />
          <Connected />
        </div>
      )}
      {isMaking && <NewAgentDialog agents={hosted.data ?? []} onClose={() => setMaking(false)} />}
    </Page>
  );
}

function RunnersLink() {
  const { session } = useConsole();
  return (
    <Link to="/s/$session/runners" params={{ session }} className="inline-flex min-h-6 items-center text-sm text-accent underline touch:min-h-11">
      Runners
    </Link>
  );
}

const list = "overflow-hidden rounded-lg border border-line bg-surface";

function Hosted({ agents, onNew }: { agents: readonly HostedAgent[]; onNew: (() => void) | undefined }) {
  const { session } = useConsole();
  const entities = useQuery(entitiesQuery(session)).data ?? [];
  const ofTrials = new Set(entities.filter(isOfTrial).map((e) => e.id));
  const shown = agents.filter((a) => !ofTrials.has(a.id));
  return (
    <section aria-labelledby="hosted" className="flex flex-col gap-3">
      <h2 id="hosted" className="text-lg font-semibold">
        Hosted agents
      </h2>
      <p className="text-sm text-soft">This server runs their model loop with the config that you give it. The runs of a remote agent are executed by a program of yours.</p>
      {shown.length === 0 ? (
        <Empty
          title="No hosted agents"
          command="shoal agents apply -f agent.yaml"
          action={
            onNew && (
              <Button tone="primary" onClick={onNew}>
                New agent
              </Button>
            )
          }
        >
          A hosted agent answers in its spaces, shows cards and forms, and asks people for approval when a tool requires it.
        </Empty>
      ) : (
        <div className={list}>
          <Head />
          <ul className="divide-y divide-line">
            {shown.map((a) => (
              <HostedRow key={a.id} agent={a} />
            ))}
          </ul>
        </div>
      )}
    </section>
  );
}

function HostedRow({ agent }: { agent: HostedAgent }) {
  const { session } = useConsole();
  const entity = useEntity(agent.id);
  const runs = useQuery(runsUnderWayQuery(session));
  const usage = useQuery(usageTodayQuery(session));
  const config = agent.config as Json;
  const remote = getIn(config, ["remote"]) !== undefined;
  const provider = String(getIn(config, ["model", "provider"]) ?? "");
  const underWay = runs.data?.filter((r) => r.agentId === agent.id).length;
  const used = usage.data?.find((row) => row.agentId === agent.id);
  const description = String(getIn(config, ["agent", "description"]) ?? "");
  const name = entity?.name ?? agent.id;
  return (
    <li className={classes("flex flex-wrap items-center gap-x-4 gap-y-1 px-3 py-1.5", columns)}>
      <div className="flex min-w-0 basis-full items-center gap-3">
        <Avatar id={agent.id} name={name} kind="agent" size="medium" />
        <div className="min-w-0">
          <h3 className="flex flex-wrap items-center gap-x-2">
            <Link to="/s/$session/agents/$agent" params={{ session, agent: agent.id }} className="inline-flex items-center font-medium break-words text-accent underline touch:min-h-11">
              {name}
            </Link>
            <code className="text-sm break-all text-soft">{agent.id}</code>
            <Activity agent={agent.id} />
            {remote && <Badge title="A program outside of the server executes its runs.">remote</Badge>}
            {provider === "script" && <Badge title="Follows a script instead of calling a model.">script</Badge>}
          </h3>
          <Description text={description} />
          <p className="flex flex-wrap gap-x-3 text-soft empty:hidden">
            <WakeNote wake={entity?.wake ?? null} />
          </p>
        </div>
      </div>
      <dl className="contents">
        <Fact name="Model" value={remote ? "its own program" : `${provider} ${String(getIn(config, ["model", "name"]) ?? "")}`} />
        <Fact name="Version" value={String(agent.version)} />
        <Fact name="Active runs" value={underWay === undefined ? "…" : String(underWay)} />
        <Fact name="Cost today" value={usage.isPending ? "…" : used === undefined ? "none" : used.cost === 0 ? "unknown" : money(used.cost, used.currency)} />
      </dl>
    </li>
  );
}

// On a wide window the names of the facts are at the top.
const columns = "lg:grid lg:grid-cols-[minmax(0,1fr)_13rem_4rem_5.5rem_5.5rem]";

function Head() {
  return (
    <div aria-hidden className={classes("hidden gap-x-4 border-b border-line px-3 py-1.5 text-xs text-soft", columns)}>
      {["Agent", "Model", "Version", "Active runs", "Cost today"].map((name) => (
        <span key={name}>{name}</span>
      ))}
    </div>
  );
}

function Fact({ name, value }: { name: string; value: string }) {
  return (
    <div className="flex min-w-0 gap-1 text-sm lg:block">
      <dt className="shrink-0 text-soft lg:sr-only">{name}</dt>
      <dd className="min-w-0 break-words tabular-nums">{value}</dd>
    </div>
  );
}

function Description({ text }: { text: string }) {
  if (text === "") return null;
  return (
    <p className="truncate text-sm text-soft" title={text}>
      {text}
    </p>
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
        <ul className={classes(list, "divide-y divide-line")}>
          {agents.map((e) => (
            <ConnectedRow key={e.id} found={e} />
          ))}
        </ul>
      )}
    </section>
  );
}

function ConnectedRow({ found }: { found: Entity }) {
  const { session } = useConsole();
  const entity = useEntity(found.id) ?? found; // the stream's is newer
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-1 px-3 py-1.5">
      <div className="flex min-w-0 flex-1 basis-60 items-center gap-3">
        <Avatar id={entity.id} name={entity.name} kind="agent" size="medium" />
        <div className="min-w-0">
          <h3 className="flex flex-wrap items-center gap-x-2">
            <Link to="/s/$session/agents/$agent" params={{ session, agent: entity.id }} className="font-medium break-words text-accent underline">
              {entity.name}
            </Link>
            <code className="text-sm break-all text-soft">{entity.id}</code>
          </h3>
          <Description text={entity.description} />
          <p className="flex flex-wrap gap-x-3 text-soft empty:hidden">
            <WakeNote wake={entity.wake} />
          </p>
        </div>
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
      <p className="min-w-0 flex-1 basis-60 text-sm">{count === 1 ? "One trial was not cleaned up. If it is not in use in another window, clean it up: its agent and its space are deleted." : `${count} trials were not cleaned up. If they are not in use in other windows, clean them up: their agents and spaces are deleted.`}</p>
      <Button small busy={sweeping.isPending} onClick={() => sweeping.mutate()}>
        Clean up
      </Button>
    </div>
  );
}
