// Connects an agent that brings its own model: the client, the identity, what to paste, and
// an indicator that shows when it has connected.
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { useConsole } from "@/app/console";
import { useFreshActs } from "@/app/fresh-acts";
import { useSpaces } from "@/live/hooks";
import { classes } from "@/ui/classes";
import { Page } from "@/ui/page";
import { Copyable } from "./copyable";
import type { Connected } from "./identity";
import { IdentityStep } from "./identity-step";
import { LightPanel } from "./light-panel";
import { type Client, clientOf, clients, connectCommand, firstPrompt, keyCommand, type Target } from "./snippets";

/** The page. The address names the client, and optionally the agent. */
export function ConnectPage() {
  useFreshActs();
  const { session, may } = useConsole();
  const asked = useSearch({ from: "/s/$session/connect" });
  const client = clientOf(asked.client);
  const [made, setMade] = useState<{ what: Connected; at: number }>();
  const mine = useSpaces();
  const entity = made?.what.entity.id ?? asked.entity ?? "scout";
  const space = mine.find((s) => s.members.some((m) => m.entityId === entity))?.id ?? mine[0]?.id ?? "SPACE";
  return (
    <Page title="Connect an agent" about="It uses its own model and tools, and talks through this server.">
      <div className="flex max-w-read flex-col gap-8 p-5">
        {may("connect_agent") && <WithoutKey client={client} />}
        <ClientStep chosen={client} />
        <section aria-labelledby="who" className="flex flex-col gap-3">
          <h2 id="who" className="text-lg font-semibold">
            2. Choose its identity
          </h2>
          {may("manage") ? <IdentityStep asked={asked.entity} made={made?.what} onMade={(what) => setMade({ what, at: Date.now() })} /> : <AskAnAdmin session={session} />}
        </section>
        <SnippetStep client={client} target={{ origin: location.origin, session, entity, space }} />
        {made !== undefined && <LightPanel key={made.at} entity={entity} since={made.at} />}
      </div>
    </Page>
  );
}

function WithoutKey({ client }: { client: Client }) {
  const command = client.signIn?.(location.origin);
  return (
    <section aria-labelledby="signs-in" className="flex flex-col gap-2">
      <h2 id="signs-in" className="text-lg font-semibold">
        Without a key
      </h2>
      <p className="text-soft">{command === undefined ? "Give this address to a client that signs in with OAuth, such as Claude Code or Codex." : `${client.name} signs in with OAuth: run this.`} It opens a page here, on which you choose the agent that it acts as. Otherwise, follow the steps.</p>
      {command === undefined ? <Copyable name="the address" text={`${location.origin}/mcp`} /> : <Copyable name={`${client.name}, in the shell`} text={command} />}
    </section>
  );
}

function ClientStep({ chosen }: { chosen: Client }) {
  const { session } = useConsole();
  const go = useNavigate();
  return (
    <fieldset className="flex flex-col gap-3">
      <legend>
        <h2 className="mb-3 text-lg font-semibold">1. Choose the client</h2>
      </legend>
      <div className="grid grid-cols-2 gap-2 sm:grid-cols-3">
        {clients.map((c) => (
          <label
            key={c.id}
            className={classes(
              "flex cursor-pointer flex-col rounded-lg border px-3 py-2 has-focus-visible:outline-2 has-focus-visible:outline-offset-2 has-focus-visible:outline-accent",
              c.id === chosen.id ? "border-accent bg-accent-soft" : "border-edge bg-surface hover:bg-sunken",
            )}
          >
            <span className="flex items-center gap-2">
              <input
                type="radio"
                name="client"
                checked={c.id === chosen.id}
                onChange={() => void go({ to: "/s/$session/connect", params: { session }, search: (s) => ({ ...s, client: c.id }), replace: true })}
              />
              <span className="font-medium">{c.name}</span>
            </span>
            <span className="text-sm text-soft">{c.about}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}

function AskAnAdmin({ session }: { session: string }) {
  const command = `shoal keys create --entity scout --session ${session} --join SPACE`;
  return (
    <div className="flex flex-col gap-2 rounded-lg border border-line bg-surface p-4">
      <p>Only an admin can create keys. Ask an admin for a key of your agent, or to run this on the server's machine:</p>
      <Copyable name="for an admin" text={command} />
      <p className="text-sm text-soft">In the texts below, replace scout with the id of your agent.</p>
    </div>
  );
}

/** A program that somebody writes: shoal connect does not know its settings. */
const isProgram = (client: Client): boolean => ["go", "curl", "typescript", "python"].includes(client.id);

function SnippetStep({ client, target }: { client: Client; target: Target }) {
  return (
    <section aria-labelledby="what" className="flex flex-col gap-4">
      <h2 id="what" className="text-lg font-semibold">
        3. Set up {client.name}
      </h2>
      {!isProgram(client) && (
        <div className="flex flex-col gap-1.5">
          <p>If shoal is installed where the agent runs, one command creates a key and writes the client's settings, after showing what changes. Nothing else is needed:</p>
          <Copyable name="in the shell" text={connectCommand(client, target)} />
          <p>Otherwise, do it by hand.</p>
        </div>
      )}
      {client.environment && (
        <div className="flex flex-col gap-1.5">
          <p>Put the key into the environment of the shell: run this, paste the key, press Enter. The key is not shown and not stored in the history.</p>
          <Copyable name="in the shell" text={keyCommand} />
        </div>
      )}
      {client.snippets(target).map((s) => (
        <div key={s.text} className="flex flex-col gap-1.5">
          <p>{s.about}</p>
          <Copyable name={s.file ?? "in the shell"} text={s.text} />
        </div>
      ))}
      <p className="rounded-md border-l-4 border-info bg-info-soft px-4 py-2 text-info">
        <strong>Time-outs.</strong> {client.timeouts}
      </p>
      {!isProgram(client) && (
        <div className="flex flex-col gap-1.5">
          <p>Then send this prompt:</p>
          <Copyable name="to the agent" text={firstPrompt} />
        </div>
      )}
    </section>
  );
}
