// The runners of the session: machines on which coding agents run, and what each machine allows.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { CircleCheck, CircleOff } from "lucide-react";
import { useState } from "react";
import { SettingsOnly, backToAgents } from "@/agents/settings-only";
import { WakeNoteOf } from "@/agents/wake-note";
import { api } from "@/api/client";
import { useConsole } from "@/app/console";
import { Copyable } from "@/connect/copyable";
import { useEntity } from "@/live/hooks";
import { Badge } from "@/ui/badge";
import { Button } from "@/ui/button";
import { Confirm } from "@/ui/confirm";
import { notify } from "@/ui/notice";
import { Page } from "@/ui/page";
import { Failed, Loading } from "@/ui/placeholder";
import { Moment } from "@/ui/time";
import { type Runner, type RunnerAgent, runnersKey, runnersQuery } from "./queries";
import { audience, limits, modeWords } from "./words";

export function RunnersPage() {
  return (
    <SettingsOnly title="Runners" back={backToAgents} why="A runner executes commands on somebody's machine.">
      <Runners />
    </SettingsOnly>
  );
}

function Runners() {
  const { session, may } = useConsole();
  const found = useQuery(runnersQuery(session));
  const [removing, setRemoving] = useState<Runner>();
  return (
    <Page title="Runners" back={backToAgents}>
      <div className="flex max-w-page flex-col gap-8 p-5">
        <section aria-labelledby="machines" className="flex flex-col gap-3">
          <h2 id="machines" className="text-lg font-semibold">
            Machines
          </h2>
          <p className="text-sm text-soft">On these machines, <code>shoal runner</code> runs coding agents such as Claude Code, Codex and Gemini CLI. Each machine decides what its agents may do; this page cannot change it.</p>
          {found.isPending ? (
            <Loading lines={3} />
          ) : found.isError ? (
            <Failed error={found.error} retry={() => void found.refetch()} />
          ) : found.data.length === 0 ? (
            <p>None yet.{may("manage") && " Start one with the command below."}</p>
          ) : (
            <ul className="flex flex-col gap-4">
              {found.data.map((r) => (
                <Machine key={r.id} runner={r} onRemove={may("manage") ? () => setRemoving(r) : undefined} />
              ))}
            </ul>
          )}
        </section>
        {may("manage") && <NewRunner />}
      </div>
      {removing !== undefined && <Remove runner={removing} onClose={() => setRemoving(undefined)} />}
    </Page>
  );
}

function Online({ online, stopped = false }: { online: boolean; stopped?: boolean }) {
  if (online) return <Badge tone="ok" icon={<CircleCheck aria-hidden className="size-3.5" />}>online</Badge>;
  return <Badge icon={<CircleOff aria-hidden className="size-3.5" />}>{stopped ? "stopped" : "offline"}</Badge>;
}

function Machine({ runner, onRemove }: { runner: Runner; onRemove: (() => void) | undefined }) {
  return (
    <li className="overflow-hidden rounded-lg border border-line bg-surface">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2 border-b border-line bg-surface px-4 py-2">
        <h3 className="flex min-w-0 flex-1 basis-60 flex-wrap items-center gap-x-3 gap-y-1">
          <span className="min-w-0 font-semibold break-words">{runner.id}</span>
          <Online online={runner.online} stopped={runner.agents.every((a) => a.report.stopped)} />
          <span className="text-sm font-normal text-soft">
            last heard <Moment at={runner.seenAt} /> · {runner.version === "" ? "unknown version" : `version ${runner.version}`}
          </span>
        </h3>
        {onRemove && (
          <Button small tone="danger" onClick={onRemove} aria-label={`Remove ${runner.id}`}>
            Remove
          </Button>
        )}
      </div>
      <ul className="divide-y divide-line">
        {runner.agents.map((a) => (
          <OnMachine key={a.agentId} agent={a} />
        ))}
      </ul>
    </li>
  );
}

function OnMachine({ agent: { agentId, online, report } }: { agent: RunnerAgent }) {
  const { session } = useConsole();
  const name = useEntity(agentId)?.name ?? agentId;
  const bounds = limits(report);
  return (
    <li className="flex flex-col gap-2 px-4 py-3">
      <h4 className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <Link to="/s/$session/agents/$agent" params={{ session, agent: agentId }} className="inline-flex items-center font-medium break-words text-accent underline touch:min-h-11">
          {name}
        </Link>
        <code className="text-sm break-all text-soft">{agentId}</code>
        {online ? (
          <span className="flex flex-wrap gap-x-3 text-soft empty:hidden">
            <WakeNoteOf agent={agentId} />
          </span>
        ) : (
          <Online online={false} stopped={report.stopped === true} />
        )}
      </h4>
      {report.problem !== undefined && <p className="rounded-md bg-bad-soft px-3 py-2 text-sm text-bad">{report.problem}</p>}
      <dl className="grid gap-x-4 gap-y-1 text-sm sm:grid-cols-[9rem_minmax(0,1fr)]">
        <Fact name="Coding agent">{report.kind}</Fact>
        <Fact name="Directory">
          <code className="break-all">{report.dir}</code>
          {report.worktree && ", a working tree for each conversation"}
        </Fact>
        <Fact name="May do">
          {modeWords(report.mode)} (<code>{report.mode}</code>)
        </Fact>
        <Fact name="Works for">{audience(report.respondTo)}</Fact>
        <Fact name="Approved by">{audience(report.approve)}</Fact>
        <Fact name="Limits">{bounds === "" ? "none" : bounds}</Fact>
      </dl>
    </li>
  );
}

function Fact({ name, children }: { name: string; children: React.ReactNode }) {
  return (
    <div className="contents">
      <dt className="text-soft max-sm:mt-1">{name}</dt>
      <dd className="min-w-0 break-words">{children}</dd>
    </div>
  );
}

function NewRunner() {
  const { session } = useConsole();
  const at = `--url ${location.origin}${session === "default" ? "" : ` --session ${session}`}`;
  return (
    <section aria-labelledby="add" className="flex flex-col gap-3">
      <h2 id="add" className="text-lg font-semibold">
        Add one
      </h2>
      <p className="text-sm text-soft">Run this on the machine with the coding agent, in the directory in which it is to work. It creates the agent and its key, and connects out to this server. SHOAL_KEY is the key of an owner of this session or an admin&apos;s; it is needed once.</p>
      <Copyable name="Run a coding agent" text={`SHOAL_KEY=… shoal runner claude-code ${at}`} />
      <Copyable name="Run it at every login" text={`SHOAL_KEY=… shoal runner claude-code ${at} --install`} />
      <p className="text-sm text-soft">
        Other agents: <code>codex</code>, <code>gemini-cli</code>, <code>opencode</code>, or <code>acp</code> with <code className="whitespace-nowrap">--program</code>. Options set what it may do: <code className="whitespace-nowrap">--mode read</code> or <code>edit</code>, <code className="whitespace-nowrap">--respond-to</code> and <code className="whitespace-nowrap">--approve</code>. They can be changed on that machine only.{" "}
        <Link to="/s/$session/connect" params={{ session }} className="text-accent underline">
          Connect a coding agent in your terminal
        </Link>{" "}
        instead if you want to work with it yourself.
      </p>
    </section>
  );
}

function Remove({ runner, onClose }: { runner: Runner; onClose: () => void }) {
  const { session } = useConsole();
  const queries = useQueryClient();
  const names = new Intl.ListFormat("en").format(runner.agents.map((a) => a.agentId));
  return (
    <Confirm
      onClose={onClose}
      title={`Remove ${runner.id}?`}
      action="Remove"
      run={async () => {
        await api.DELETE("/v1/sessions/{session}/runners/{runner}", { params: { path: { session, runner: runner.id } } });
        await queries.invalidateQueries({ queryKey: runnersKey(session) });
        notify(`${runner.id} is removed.`);
      }}
    >
      <p>
        The keys of {names} on this machine are revoked, and its runner ends. A turn in progress is cut off.
      </p>
      <p className="text-soft">The agents stay. A person who may create keys can start the runner again.</p>
    </Confirm>
  );
}
