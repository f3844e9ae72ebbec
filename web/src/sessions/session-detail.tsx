// One session: its participants and what they do, their waits, its spaces, and a
// form to write to them.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { DoorOpen, Lock, Trash2 } from "lucide-react";
import { type ReactNode, useState } from "react";
import { api } from "@/api/client";
import { type Entity, listsAll, type Session, type Space } from "@shoal-dev/client";
import { useConsole } from "@/app/console";
import { inBrowser } from "@/app/storage";
import { LiveContext, useConnection, useEntities, useSpaces, useStore } from "@/live/hooks";
import { Avatar } from "@/ui/avatar";
import { Badge } from "@/ui/badge";
import { Button } from "@/ui/button";
import { SelectField } from "@/ui/field";
import { Failed, Loading } from "@/ui/placeholder";
import { EntityState } from "@/ui/state";
import { Moment } from "@/ui/time";
import { CloseSession, CloseSpace, defaultSession, DeleteSession, sessionsKey } from "./forms";
import { SendPanel } from "./send";
import { Left, Waiting } from "./waiting";

/** Follows the session while it is shown. */
export function SessionDetail({ session }: { session: Session }) {
  const store = useStore(session.id, null);
  return (
    <div className="flex min-w-0 flex-col gap-8">
      <Head session={session} />
      {store === null ? (
        <Loading />
      ) : (
        <LiveContext value={store}>
          <Inside session={session} />
        </LiveContext>
      )}
    </div>
  );
}

function Head({ session }: { session: Session }) {
  const console = useConsole();
  const go = useNavigate();
  const [asking, setAsking] = useState<"close" | "delete">();
  const here = session.id === console.session;
  const open = () => {
    inBrowser.setItem("shoal.session", session.id);
    void go({ to: "/s/$session/spaces", params: { session: session.id } });
  };
  return (
    <header className="flex flex-col gap-3">
      <div className="flex min-w-0 flex-wrap items-center gap-2">
        <h2 className="min-w-0 text-lg font-semibold break-words">{session.name}</h2>
        <SessionState session={session} />
        {here && <Badge tone="accent">current</Badge>}
      </div>
      <p className="text-sm text-soft">
        <code className="font-mono break-all">{session.id}</code> · since <Moment at={session.createdAt} />
        {session.closedAt !== null && <> · closed <Moment at={session.closedAt} /></>}
      </p>
      <div className="flex flex-wrap gap-2">
        <Button tone={here ? "plain" : "primary"} icon={<DoorOpen aria-hidden className="size-4" />} onClick={open}>
          {here ? "Go to spaces" : "Open"}
        </Button>
        {session.status === "open" && (
          <Button icon={<Lock aria-hidden className="size-4" />} onClick={() => setAsking("close")}>
            Close
          </Button>
        )}
        {session.id !== defaultSession && (
          <Button tone="danger" icon={<Trash2 aria-hidden className="size-4" />} onClick={() => setAsking("delete")}>
            Delete
          </Button>
        )}
      </div>
      {session.status === "open" && <SpaceRights session={session} />}
      {session.id === defaultSession && <p className="text-sm text-soft">The default session cannot be deleted.</p>}
      {asking === "close" && <CloseSession session={session} onClose={() => setAsking(undefined)} />}
      {asking === "delete" && <DeleteSession session={session} onClose={() => setAsking(undefined)} />}
    </header>
  );
}

const rights = { members: "All members of a space", moderators: "Only the space's owner, and admins and owners of the session" } as const;

/** The setting of who may change spaces. */
function SpaceRights({ session }: { session: Session }) {
  const queries = useQueryClient();
  const change = useMutation({
    mutationFn: (spaceRights: Session["spaceRights"]) => api.PATCH("/v1/sessions/{session}", { params: { path: { session: session.id } }, body: { spaceRights } }),
    onSettled: () => queries.invalidateQueries({ queryKey: sessionsKey }),
  });
  return (
    <div className="flex flex-col gap-2">
      <SelectField label="Who may rename and close spaces and change their members" value={session.spaceRights} disabled={change.isPending} onChange={(e) => change.mutate(e.target.value === "moderators" ? "moderators" : "members")}>
        <option value="members">{rights.members}</option>
        <option value="moderators">{rights.moderators}</option>
      </SelectField>
      {change.isError && <Failed error={change.error} />}
    </div>
  );
}

/** Open or closed, as an icon and a word. */
export function SessionState({ session }: { session: Session }) {
  return session.status === "open" ? <Badge tone="ok">open</Badge> : <Badge icon={<Lock aria-hidden className="size-3" />}>closed</Badge>;
}

function Inside({ session }: { session: Session }) {
  const connection = useConnection();
  const entities = [...useEntities()].sort((a, b) => a.name.localeCompare(b.name));
  const spaces = [...useSpaces()].sort((a, b) => a.name.localeCompare(b.name));
  const agents = entities.filter((e) => e.kind === "agent");
  const people = entities.filter((e) => e.kind === "human");
  if (connection.state === "gone") return <Failed error={new Error(connection.detail)} />;
  if (connection.state === "connecting") return <Loading />;
  return (
    <>
      <Section title="Waits">
        <Waiting session={session.id} />
      </Section>
      <Section title={`Agents (${agents.length})`}>
        {agents.length === 0 ? <p className="text-soft">No agents in this session.</p> : <Entities of={agents} />}
      </Section>
      <Section title={`People (${people.length})`}>
        {people.length === 0 ? <p className="text-soft">No people in this session.</p> : <Entities of={people} />}
      </Section>
      <Section title={`Spaces (${spaces.length})`}>
        {spaces.length === 0 ? <p className="text-soft">No spaces.</p> : <ul className="divide-y divide-line overflow-hidden rounded-lg border border-line bg-surface">{spaces.map((s) => <SpaceRow key={s.id} space={s} />)}</ul>}
      </Section>
      {session.status === "open" && (
        <Section title="Send a message">
          <SendPanel session={session.id} />
        </Section>
      )}
    </>
  );
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section aria-label={title} className="flex min-w-0 flex-col gap-2">
      <h3 className="font-semibold">{title}</h3>
      {children}
    </section>
  );
}

function Entities({ of }: { of: readonly Entity[] }) {
  return (
    <ul className="divide-y divide-line overflow-hidden rounded-lg border border-line bg-surface">
      {of.map((e) => (
        <li key={e.id} className="flex flex-wrap items-center gap-x-3 gap-y-1 px-3 py-1.5">
          <Avatar id={e.id} name={e.name} kind={e.kind} />
          <span className="min-w-0 flex-1 basis-40 break-words">
            {e.name} <code className="font-mono text-sm text-soft">@{e.id}</code>
          </span>
          {e.hosted && <Badge>hosted</Badge>}
          <EntityState state={e.state} />
          <span className="text-sm text-soft">{e.state === "waiting" && e.waitEndsAt !== null ? <Left until={e.waitEndsAt} /> : e.hosted ? null : e.lastSeenAt === null ? "never seen" : <>seen <Moment at={e.lastSeenAt} /></>}</span>
        </li>
      ))}
    </ul>
  );
}

function SpaceRow({ space }: { space: Space }) {
  const [closing, setClosing] = useState(false);
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1 px-3 py-1.5">
      <div className="min-w-0 flex-1 basis-60">
        <p className="flex min-w-0 flex-wrap items-center gap-2">
          <span className="min-w-0 font-semibold break-words">{space.name}</span>
          {space.status === "closed" && <Badge>closed</Badge>}
          <span className="text-sm text-soft">
            {space.lastSeq} {space.lastSeq === 1 ? "message" : "messages"}
          </span>
        </p>
        <p className="text-sm break-words text-soft">{space.members.length === 0 ? "no members" : space.members.map((m) => m.name).join(", ")}
          {!listsAll(space) && ` and ${space.memberCount - space.members.length} more`}
        </p>
        {space.summary !== null && <p className="text-sm break-words">{space.summary}</p>}
      </div>
      {space.status === "open" && (
        <Button small onClick={() => setClosing(true)} aria-label={`Close ${space.name}`}>
          Close
        </Button>
      )}
      {closing && <CloseSpace space={space} onClose={() => setClosing(false)} />}
    </li>
  );
}
