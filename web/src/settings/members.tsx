// The participants of the session and the invitations to it, with what the reader may do about them.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Mail, Pencil, Trash2, UserPlus } from "lucide-react";
import { useState } from "react";
import { api } from "@/api/client";
import { allPages, type Entity } from "@shoal-dev/client";
import { useConsole } from "@/app/console";
import { InviteDialog } from "@/invite/invite-dialog";
import { InviteList } from "@/invite/invite-list";
import { useLiveValue } from "@/live/hooks";
import { Avatar } from "@/ui/avatar";
import { Badge } from "@/ui/badge";
import { Button, IconButton } from "@/ui/button";
import { Confirm } from "@/ui/confirm";
import { CheckField, TextField } from "@/ui/field";
import { notify } from "@/ui/notice";
import { Empty, Failed, Loading } from "@/ui/placeholder";
import { EntityState } from "@/ui/state";
import { Moment } from "@/ui/time";
import { EntityDialog } from "./entity-form";
import { entitiesKey } from "./queries";

/** The list of entities, for those who may read invitations. */
export function Members() {
  const { session, may } = useConsole();
  const [typed, setTyped] = useState("");
  const [editing, setEditing] = useState<Entity | "new">();
  const [deleting, setDeleting] = useState<Entity>();
  const [inviting, setInviting] = useState(false);
  const found = useQuery({
    queryKey: entitiesKey(session),
    queryFn: () => allPages((cursor) => api.GET("/v1/sessions/{session}/entities", { params: { path: { session }, query: { limit: 200, cursor } } })),
  });
  if (found.isPending) return <Loading />;
  if (found.isError) return <Failed error={found.error} retry={() => void found.refetch()} />;
  const small = typed.trim().toLowerCase();
  const shown = found.data.filter((e) => e.id.toLowerCase().includes(small) || e.name.toLowerCase().includes(small));
  const add = (
    <div className="flex flex-wrap gap-2">
      {may("manage") && (
        <Button icon={<UserPlus aria-hidden className="size-4" />} onClick={() => setEditing("new")}>
          Add a participant
        </Button>
      )}
      {may("invite") && (
        <Button tone="primary" icon={<Mail aria-hidden className="size-4" />} onClick={() => setInviting(true)}>
          Invite a person
        </Button>
      )}
    </div>
  );
  return (
    <>
      {found.data.length === 0 ? (
        <Empty title="No participants yet" action={add} command={`shoal keys create --session ${session} --entity ann --kind human`}>
          The people and agents of this session appear here.
        </Empty>
      ) : (
        <>
          <div className="flex flex-wrap items-end justify-between gap-3">
            <div className="w-full sm:max-w-72">
              <TextField label="Find" type="search" value={typed} onChange={(e) => setTyped(e.target.value)} placeholder="id or name" />
            </div>
            {add}
          </div>
          {shown.length === 0 ? (
            <p className="text-soft">No results.</p>
          ) : (
            <ul className="divide-y divide-line overflow-hidden rounded-lg border border-line bg-surface">
              {shown.map((e) => (
                <EntityRow key={e.id} stored={e} onEdit={() => setEditing(e)} onDelete={() => setDeleting(e)} />
              ))}
            </ul>
          )}
        </>
      )}
      <InviteList />
      {inviting && <InviteDialog onClose={() => setInviting(false)} />}
      {editing !== undefined && <EntityDialog entity={editing === "new" ? undefined : editing} onClose={() => setEditing(undefined)} />}
      {deleting !== undefined && <Delete entity={deleting} onClose={() => setDeleting(undefined)} />}
    </>
  );
}

function EntityRow({ stored, onEdit, onDelete }: { stored: Entity; onEdit: () => void; onDelete: () => void }) {
  const { session, actor, may } = useConsole();
  const live = useLiveValue(`entity:${stored.id}`, (s) => s.live.entities.get(stored.id));
  const state = live?.state ?? stored.state;
  const seen = live?.lastSeenAt ?? stored.lastSeenAt;
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1 px-3 py-1.5">
      <Avatar id={stored.id} name={stored.name} kind={stored.kind} size="medium" />
      <div className="min-w-0 flex-1 basis-40">
        <p className="flex flex-wrap items-center gap-x-2 gap-y-1">
          <span className="min-w-0 font-semibold break-words">{stored.name}</span>
          <Badge>{kindWords(stored)}</Badge>
          {stored.id === actor && <Badge tone="accent">you</Badge>}
          <EntityState state={state} />
        </p>
        <p className="text-sm break-words text-soft">
          <code className="font-mono">@{stored.id}</code>
          {stored.description !== "" && ` · ${stored.description}`}
          {!stored.hosted && <> · {seen === null ? "never seen" : <>last seen <Moment at={seen} /></>}</>}
        </p>
      </div>
      <div className="ml-auto flex items-center gap-1">
        {stored.hosted && may("read_settings") && (
          <Link to="/s/$session/agents/$agent" params={{ session, agent: stored.id }} className="inline-flex items-center px-2 text-sm text-accent underline touch:min-h-11">
            Configuration
          </Link>
        )}
        {!stored.hosted && stored.kind === "agent" && (
          <Link to="/s/$session/connect" params={{ session }} search={{ entity: stored.id }} className="inline-flex items-center px-2 text-sm text-accent underline touch:min-h-11">
            Connect
          </Link>
        )}
        {may("manage") && (
          <>
            <IconButton label={`Edit ${stored.name}`} onClick={onEdit}>
              <Pencil aria-hidden className="size-4" />
            </IconButton>
            <IconButton label={`Delete ${stored.name}`} onClick={onDelete}>
              <Trash2 aria-hidden className="size-4" />
            </IconButton>
          </>
        )}
      </div>
    </li>
  );
}

function kindWords(e: Entity): string {
  if (e.kind === "human") return "person";
  if (!e.hosted) return "connected agent";
  // Of an agent that it runs itself, the server names no program.
  return ["hosted", "wait"].includes(e.wake?.via ?? "hosted") ? "hosted agent" : "remote agent";
}

function Delete({ entity, onClose }: { entity: Entity; onClose: () => void }) {
  const [erase, setErase] = useState(false);
  const { actor, session, setActor } = useConsole();
  const queries = useQueryClient();
  return (
    <Confirm
      title={`${erase ? "Erase" : "Delete"} ${entity.name}?`}
      action={erase ? "Erase" : "Delete"}
      word={entity.id}
      onClose={onClose}
      run={async () => {
        const of = { headers: { "X-Shoal-Entity": "" }, params: { path: { session, entity: entity.id } } };
        if (erase) await api.POST("/v1/sessions/{session}/entities/{entity}/erase", of);
        else await api.DELETE("/v1/sessions/{session}/entities/{entity}", of);
        notify(`${erase ? "Erased" : "Deleted"} ${entity.name}.`);
        await queries.invalidateQueries({ queryKey: entitiesKey(session) });
        if (entity.id === actor) setActor(null);
      }}
    >
      <p>What happens:</p>
      <ul className="list-disc pl-5">
        <li>It leaves its spaces, and its keys stop working at once.</li>
        {entity.hosted && <li>Its runs are canceled, and its configuration and plans are deleted.</li>}
        <li>{erase ? "Its name, messages, files and answers are erased, for ever." : "Its messages remain."}</li>
        <li>
          The id <code className="font-mono">{entity.id}</code> cannot be used again.
        </li>
      </ul>
      <CheckField label="Also erase its name and everything that it has said" checked={erase} onChange={(e) => setErase(e.target.checked)} />
    </Confirm>
  );
}
