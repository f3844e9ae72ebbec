// Creates a key and shows its secret, once.
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useId, useState } from "react";
import { api } from "@/api/client";
import { allPages, type Key, ShoalError } from "@shoal-dev/client";
import { useConsole } from "@/app/console";
import { Copyable } from "@/connect/copyable";
import { useEntities } from "@/live/hooks";
import { Button } from "@/ui/button";
import { Dialog } from "@/ui/dialog";
import { CheckField, SelectField, TextField } from "@/ui/field";
import { Failed } from "@/ui/placeholder";
import { sessionsKey } from "@/sessions/forms";
import { type Limits, LimitFields, scopesOfLimits, unlimited } from "./key-limits";
import { keysKey } from "./queries";

const days = 24 * 60 * 60 * 1000;
const lives = [
  { id: "never", name: "never", ms: 0 },
  { id: "1", name: "1 day", ms: days },
  { id: "7", name: "7 days", ms: 7 * days },
  { id: "30", name: "30 days", ms: 30 * days },
  { id: "90", name: "90 days", ms: 90 * days },
  { id: "365", name: "1 year", ms: 365 * days },
] as const;

/** Shows the secret of a key, once. */
export function NewKey({ made, onClose }: { made: Key; onClose: () => void }) {
  return (
    <Dialog open onClose={onClose} title="Copy the key now" about="It is shown only once. The server stores its hash." actions={<Button tone="primary" onClick={onClose}>Done</Button>}>
      {made.key !== null && <Copyable name={made.name === "" ? made.id : made.name} text={made.key} />}
    </Dialog>
  );
}

/** The form; after the key was created, its secret. */
export function NewKeyDialog({ onClose }: { onClose: () => void }) {
  const [made, setMade] = useState<Key>();
  const form = useId();
  const [busy, setBusy] = useState(false);
  if (made !== undefined) return <NewKey made={made} onClose={onClose} />;
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
  entity: "Acts as one participant: reads and writes in its spaces.",
  service: "For a program of one session: triggers agents, reads runs, returns tool results.",
  admin: "Everything in all sessions. Only for people whom you trust with the server.",
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
  const [renew, setRenew] = useState(false);
  const [limits, setLimits] = useState<Limits>(unlimited);
  const [wrong, setWrong] = useState<string>();
  const sessions = useQuery({ queryKey: sessionsKey, queryFn: () => allPages((cursor) => api.GET("/v1/sessions", { params: { query: { limit: 200, cursor } } })) });
  const known = useEntities();
  const isNew = entity.trim() !== "" && (session !== console.session || !known.some((e) => e.id === entity.trim()));
  const list = useId();
  const ms = lives.find((l) => l.id === life)?.ms ?? 0;
  const limited = role === "admin" ? { scopes: [] } : scopesOfLimits(limits);
  const make = useMutation({
    mutationFn: () => {
      return api.POST("/v1/keys", {
        body: {
          role,
          name: name.trim(),
          sessionId: role === "admin" ? undefined : session,
          entityId: role === "entity" ? entity.trim() : undefined,
          kind: role === "entity" && isNew ? kind : undefined,
          expiresAt: ms === 0 ? undefined : new Date(Date.now() + ms).toISOString(),
          renewForMs: renew && ms > 0 ? ms : undefined,
          scopes: limited.scopes,
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
  const problem = make.isError ? ShoalError.from(make.error) : undefined;
  const changeSession = (id: string) => {
    setSession(id);
    setLimits({ ...limits, spaces: unlimited.spaces }); // those of the other session
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setWrong(limited.wrong);
    if (limited.wrong === undefined) make.mutate();
  };
  return (
    <form id={id} onSubmit={submit} className="flex flex-col gap-4">
      <TextField label="Name" value={name} onChange={(e) => setName(e.target.value)} placeholder="scout on Ann's laptop" error={problem?.at("body.name")} />
      <SelectField label="Role" value={role} onChange={(e) => setRole(e.target.value as Key["role"])} hint={roles[role]} error={problem?.at("body.role")}>
        <option value="entity">participant</option>
        <option value="service">service</option>
        {console.admin && <option value="admin">admin</option>}
      </SelectField>
      {role !== "admin" && (
        <SelectField label="Session" value={session} onChange={(e) => changeSession(e.target.value)} error={problem?.at("body.sessionId")}>
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
          <TextField label="Participant" list={list} value={entity} onChange={(e) => setEntity(e.target.value)} autoComplete="off" spellCheck={false} required hint="An id. A new id creates a participant." error={problem?.at("body.entityId")} />
          <datalist id={list}>
            {session === console.session && known.filter((e) => !e.hosted).map((e) => <option key={e.id} value={e.id}>{e.name}</option>)}
          </datalist>
          {isNew && (
            <SelectField label="Kind" value={kind} onChange={(e) => setKind(e.target.value === "human" ? "human" : "agent")} error={problem?.at("body.kind")}>
              <option value="agent">agent</option>
              <option value="human">person</option>
            </SelectField>
          )}
        </>
      )}
      <SelectField label="Expires after" value={life} onChange={(e) => setLife(e.target.value)} error={problem?.at("body.expiresAt")}>
        {lives.map((l) => (
          <option key={l.id} value={l.id}>
            {l.name}
          </option>
        ))}
      </SelectField>
      {ms > 0 && <CheckField label="Renew it while it is used" checked={renew} onChange={(e) => setRenew(e.target.checked)} hint={renew ? "It expires when nobody has used it for so long." : undefined} />}
      {role !== "admin" && <LimitFields session={session} value={limits} onChange={setLimits} />}
      {wrong !== undefined && (
        <p role="alert" className="text-sm text-bad">
          {wrong}
        </p>
      )}
      {problem !== undefined && problem.fields.length === 0 && <Failed error={problem} />}
    </form>
  );
}
