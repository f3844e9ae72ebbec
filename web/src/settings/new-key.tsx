// Creates a key and shows its secret, once.
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useId, useState } from "react";
import { api } from "@/api/client";
import { all } from "@/client/request";
import { Problem } from "@/client/problem";
import type { Key } from "@/client/types";
import { useConsole } from "@/app/console";
import { Copyable } from "@/connect/copyable";
import { useEntities } from "@/live/hooks";
import { Button } from "@/ui/button";
import { Dialog } from "@/ui/dialog";
import { SelectField, TextField } from "@/ui/field";
import { Failed } from "@/ui/shown";
import { sessionsKey } from "@/sessions/forms";
import { keysKey } from "./queries";

const days = 24 * 60 * 60 * 1000;
const lives = [
  { id: "never", name: "no end", ms: 0 },
  { id: "1", name: "one day", ms: days },
  { id: "7", name: "a week", ms: 7 * days },
  { id: "30", name: "30 days", ms: 30 * days },
  { id: "90", name: "90 days", ms: 90 * days },
  { id: "365", name: "a year", ms: 365 * days },
] as const;

/** The form; once the key is made, its secret. */
export function NewKeyDialog({ onClose }: { onClose: () => void }) {
  const [made, setMade] = useState<Key>();
  const form = useId();
  const [busy, setBusy] = useState(false);
  if (made !== undefined) {
    return (
      <Dialog open onClose={onClose} title="Copy the key now" about="It is shown this once, and stored only as a hash." actions={<Button tone="primary" onClick={onClose}>I have it</Button>}>
        {made.key !== null && <Copyable name={made.name === "" ? made.id : made.name} text={made.key} />}
      </Dialog>
    );
  }
  return (
    <Dialog
      open
      onClose={onClose}
      title="Create a key"
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button tone="primary" type="submit" form={form} busy={busy}>
            Create
          </Button>
        </>
      }
    >
      <KeyForm id={form} onBusy={setBusy} onMade={setMade} />
    </Dialog>
  );
}

const roles: Record<Key["role"], string> = {
  entity: "Acts as one entity: reads and writes in its spaces.",
  service: "A program of one session: triggers agents, reads runs, hands in tool results.",
  admin: "Everything, in all sessions. Give it to nobody you would not give the server to.",
};

function KeyForm({ id, onBusy, onMade }: { id: string; onBusy: (busy: boolean) => void; onMade: (key: Key) => void }) {
  const console = useConsole();
  const queries = useQueryClient();
  const [role, setRole] = useState<Key["role"]>("entity");
  const [session, setSession] = useState(console.session);
  const [entity, setEntity] = useState("");
  const [kind, setKind] = useState<"agent" | "human">("agent");
  const [name, setName] = useState("");
  const [life, setLife] = useState("90");
  const sessions = useQuery({ queryKey: sessionsKey, queryFn: () => all((cursor) => api.GET("/v1/sessions", { params: { query: { limit: 200, cursor } } })) });
  const known = useEntities();
  const isNew = entity.trim() !== "" && (session !== console.session || !known.some((e) => e.id === entity.trim()));
  const list = useId();
  const make = useMutation({
    mutationFn: () => {
      const ms = lives.find((l) => l.id === life)?.ms ?? 0;
      return api.POST("/v1/keys", {
        body: {
          role,
          name: name.trim(),
          sessionId: role === "admin" ? undefined : session,
          entityId: role === "entity" ? entity.trim() : undefined,
          kind: role === "entity" && isNew ? kind : undefined,
          expiresAt: ms === 0 ? undefined : new Date(Date.now() + ms).toISOString(),
        },
      });
    },
    onMutate: () => onBusy(true),
    onSettled: () => onBusy(false),
    onSuccess: (key) => {
      void queries.invalidateQueries({ queryKey: keysKey });
      onMade(key);
    },
  });
  const problem = make.isError ? Problem.from(make.error) : undefined;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    make.mutate();
  };
  return (
    <form id={id} onSubmit={submit} className="flex flex-col gap-4">
      <TextField label="What it is for" value={name} onChange={(e) => setName(e.target.value)} placeholder="scout on Ann's laptop" error={problem?.at("body.name")} />
      <SelectField label="What it allows" value={role} onChange={(e) => setRole(e.target.value as Key["role"])} hint={roles[role]} error={problem?.at("body.role")}>
        <option value="entity">one entity</option>
        <option value="service">a service</option>
        <option value="admin">admin</option>
      </SelectField>
      {role !== "admin" && (
        <SelectField label="Session" value={session} onChange={(e) => setSession(e.target.value)} error={problem?.at("body.sessionId")}>
          {(sessions.data ?? [{ id: session, name: session, status: "open" as const }])
            .filter((s) => s.status === "open")
            .map((s) => (
              <option key={s.id} value={s.id}>
                {s.name === s.id ? s.id : `${s.name} (${s.id})`}
              </option>
            ))}
        </SelectField>
      )}
      {role === "entity" && (
        <>
          <TextField label="Entity" list={list} value={entity} onChange={(e) => setEntity(e.target.value)} autoComplete="off" spellCheck={false} required hint="Its id. One that is new is made." error={problem?.at("body.entityId")} />
          <datalist id={list}>
            {session === console.session && known.filter((e) => !e.hosted).map((e) => <option key={e.id} value={e.id}>{e.name}</option>)}
          </datalist>
          {isNew && (
            <SelectField label="The new entity is" value={kind} onChange={(e) => setKind(e.target.value === "human" ? "human" : "agent")} error={problem?.at("body.kind")}>
              <option value="agent">an agent</option>
              <option value="human">a person</option>
            </SelectField>
          )}
        </>
      )}
      <SelectField label="It works for" value={life} onChange={(e) => setLife(e.target.value)} error={problem?.at("body.expiresAt")}>
        {lives.map((l) => (
          <option key={l.id} value={l.id}>
            {l.name}
          </option>
        ))}
      </SelectField>
      {problem !== undefined && problem.fields.length === 0 && <Failed error={problem} />}
    </form>
  );
}
