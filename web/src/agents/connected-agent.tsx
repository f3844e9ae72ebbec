// An agent that connects with a model of its own: whether a mention reaches it, what came of
// the last wake test, and how to set it up.
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { Entity } from "@shoal-dev/client";
import { useConsole } from "@/app/console";
import { Copyable } from "@/connect/copyable";
import { useSpaces } from "@/live/hooks";
import { Avatar } from "@/ui/avatar";
import { Badge } from "@/ui/badge";
import { Page } from "@/ui/page";
import { EntityState } from "@/ui/state";
import { duration, Moment } from "@/ui/time";
import { backToAgents } from "./settings-only";

type Proof = NonNullable<NonNullable<Entity["wake"]>["proof"]>;

/** The page of a connected agent. It has no config here. */
export function ConnectedAgent({ entity }: { entity: Entity }) {
  const { session } = useConsole();
  const spaces = useSpaces().filter((s) => s.status !== "closed" && s.members.some((m) => m.entityId === entity.id));
  const setUp = (
    <Link to="/s/$session/connect" params={{ session }} search={{ entity: entity.id }} className="inline-flex min-h-6 items-center text-sm text-accent underline touch:min-h-11">
      Set up its client
    </Link>
  );
  return (
    <Page title={entity.name} back={backToAgents} about={<About entity={entity} />} actions={setUp}>
      <div className="flex max-w-read flex-col gap-8 p-5">
        <p className="flex items-center gap-3 text-soft">
          <Avatar id={entity.id} name={entity.name} kind="agent" size="medium" />
          <span className="min-w-0">{entity.description === "" ? "" : `${entity.name} ${entity.description}. `}This agent connects to the server with its own model, so it has no settings here.</span>
        </p>
        <dl className="grid gap-x-6 gap-y-2 sm:grid-cols-[8rem_1fr]">
          <Fact name="Last seen">{entity.lastSeenAt === null ? "never" : <Moment at={entity.lastSeenAt} />}</Fact>
          {entity.wake !== null && <Fact name="When mentioned">{entity.wake.text === "" ? entity.wake.state : entity.wake.text}</Fact>}
          <Fact name="Spaces">
            {spaces.length === 0 ? "none" : null}
            <span className="flex flex-wrap gap-x-3">
              {spaces.map((s) => (
                <Link key={s.id} to="/s/$session/spaces/$space" params={{ session, space: s.id }} className="text-accent underline">
                  {s.name}
                </Link>
              ))}
            </span>
          </Fact>
        </dl>
        <WakeTest agent={entity.id} proof={entity.wake?.proof ?? null} />
      </div>
    </Page>
  );
}

function About({ entity }: { entity: Entity }) {
  return (
    <span className="flex flex-wrap items-center gap-x-2 gap-y-1">
      <code>{entity.id}</code> <EntityState state={entity.state} /> <Badge tone="neutral">connected agent</Badge>
    </span>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="contents max-sm:block">
      <dt className="text-soft">{name}</dt>
      <dd className="min-w-0 break-words">{children}</dd>
    </div>
  );
}

function WakeTest({ agent, proof }: { agent: string; proof: Proof | null }) {
  return (
    <section aria-labelledby="wake" className="flex flex-col items-start gap-3">
      <h2 id="wake" className="text-lg font-semibold">
        Wake test
      </h2>
      {proof === null ? (
        <p className="text-soft">Never tested. A test mentions the agent and waits for its answer.</p>
      ) : (
        <>
          <p className="flex flex-wrap items-center gap-x-2 gap-y-1">
            {proof.answered ? <Badge tone="ok">answered</Badge> : <Badge tone="warn">not answered</Badge>}
            <span>{proof.answered ? `It answered a mention after ${duration(proof.ms)}.` : "It did not answer a mention."}</span>
            <Moment at={proof.at} />
          </p>
          {proof.steps.length > 1 && (
            <ol className="w-full divide-y divide-line rounded-lg border border-line bg-surface text-sm">
              {proof.steps.map((s) => (
                <li key={s.step} className="flex justify-between gap-3 px-3 py-1.5">
                  <span>{s.step}</span>
                  <span className="text-soft tabular-nums">after {duration(s.ms)}</span>
                </li>
              ))}
            </ol>
          )}
        </>
      )}
      <div className="w-full min-w-0">
        <Copyable name="in the shell" text={`shoal wake test @${agent}`} />
      </div>
    </section>
  );
}
