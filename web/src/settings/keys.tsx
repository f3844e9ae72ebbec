// The keys of the server: what each allows, when it was last used, replacing and revoking.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { KeyRound } from "lucide-react";
import { useState } from "react";
import { api } from "@/api/client";
import { allPages, type Key } from "@shoal-dev/client";
import { callerKey } from "@/app/identity";
import { useConsole } from "@/app/console";
import { Badge } from "@/ui/badge";
import { Button } from "@/ui/button";
import { Confirm } from "@/ui/confirm";
import { notify } from "@/ui/notice";
import { Empty, Failed, Loading } from "@/ui/placeholder";
import { Moment } from "@/ui/time";
import { limits } from "@/connect/scopes";
import { NewKey, NewKeyDialog } from "./new-key";
import { keysKey } from "./queries";
import { RotateKey } from "./rotate-key";

/** The list of keys, for those who may read the settings. */
export function Keys() {
  const { may } = useConsole();
  const [making, setMaking] = useState(false);
  const [revoking, setRevoking] = useState<Key>();
  const [rotating, setRotating] = useState<Key>();
  const [made, setMade] = useState<Key>();
  const keys = useQuery({ queryKey: keysKey, queryFn: () => allPages((cursor) => api.GET("/v1/keys", { params: { query: { limit: 200, cursor } } })) });
  if (keys.isPending) return <Loading />;
  if (keys.isError) return <Failed error={keys.error} retry={() => void keys.refetch()} />;
  // The sign-ins of browsers have a list of their own, in "This browser".
  const newest = keys.data.filter((k) => k.device === null).sort((a, b) => b.createdAt.localeCompare(a.createdAt));
  const create = may("manage") && (
    <Button tone="primary" icon={<KeyRound aria-hidden className="size-4" />} onClick={() => setMaking(true)}>
      Create a key
    </Button>
  );
  return (
    <>
      {newest.length === 0 ? (
        <Empty title="No keys yet" action={create} command={may("manage") ? "shoal keys create --role admin" : undefined}>
          A key identifies the caller: a program, an agent or a person.
        </Empty>
      ) : (
        <>
          <div className="flex flex-wrap items-center justify-between gap-3">
            <p className="min-w-0 flex-1 basis-80 text-soft">Only hashes of keys are stored. A lost key cannot be shown again: replace it.</p>
            {create}
          </div>
          <ul className="divide-y divide-line overflow-hidden rounded-lg border border-line bg-surface">
            {newest.map((k) => (
              <KeyRow key={k.id} of={k} may={may("manage")} onRevoke={() => setRevoking(k)} onRotate={() => setRotating(k)} />
            ))}
          </ul>
        </>
      )}
      {making && <NewKeyDialog onClose={() => setMaking(false)} />}
      {rotating !== undefined && <RotateKey of={rotating} onClose={() => setRotating(undefined)} onMade={setMade} />}
      {made !== undefined && <NewKey made={made} onClose={() => setMade(undefined)} />}
      {revoking !== undefined && <Revoke of={revoking} onClose={() => setRevoking(undefined)} />}
    </>
  );
}

/** What a key allows, as text. */
export function allows(key: Key): string {
  if (key.role === "admin") return "may do everything";
  if (key.role === "service") return `is a service in ${key.sessionId ?? ""}`;
  return `acts as ${key.entityId ?? ""} in ${key.sessionId ?? ""}`;
}

interface RowProps {
  of: Key;
  /** Whether the caller may change keys. */
  may: boolean;
  onRevoke: () => void;
  onRotate: () => void;
}

function KeyRow({ of: key, may, onRevoke, onRotate }: RowProps) {
  const { me } = useConsole();
  const title = key.name === "" ? key.id : key.name;
  const limited = limits(key.scopes);
  const expired = key.expiresAt !== null && Date.parse(key.expiresAt) <= Date.now();
  // A key cannot replace itself, because a stolen one would, and the page cannot change the file of a key
  // in the data directory.
  const replaceable = !expired && key.replacedBy === null && key.id !== me.keyId && key.name !== "data directory";
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-2 px-4 py-3">
      <div className="min-w-0 flex-1 basis-72">
        <p className="flex flex-wrap items-center gap-2">
          <span className="min-w-0 font-semibold break-words">{key.name === "" ? "unnamed" : key.name}</span>
          <Badge tone={key.role === "admin" ? "warn" : "neutral"}>{key.role === "entity" ? "participant" : key.role}</Badge>
          {key.id === me.keyId && <Badge tone="accent">this browser</Badge>}
          {key.replacedBy !== null && <Badge tone="neutral">replaced</Badge>}
          {expired && <Badge tone="bad">expired</Badge>}
        </p>
        <p className="text-sm break-words text-soft">
          {allows(key)}
          {limited !== "" && <> · {limited}</>} · <code className="font-mono">{key.id}</code>
        </p>
        <p className="flex flex-wrap gap-x-4 text-sm text-soft">
          <span>
            created <Moment at={key.createdAt} />
          </span>
          <span>
            {key.lastUsedAt === null ? "never used" : <>used <Moment at={key.lastUsedAt} /></>}
            {key.lastAddress !== null && <> from {key.lastAddress}</>}
          </span>
          <span>{key.expiresAt === null ? "never expires" : <>{expired ? "expired" : "expires"} <Moment at={key.expiresAt} />{key.renewForMs !== null && !expired && ", renewed while it is used"}</>}</span>
        </p>
      </div>
      {may && (
        <div className="flex gap-2">
          {replaceable && (
            <Button small onClick={onRotate} aria-label={`Replace ${title}`}>
              Replace
            </Button>
          )}
          <Button small tone="danger" onClick={onRevoke} aria-label={`Revoke ${title}`}>
            Revoke
          </Button>
        </div>
      )}
    </li>
  );
}

function Revoke({ of: key, onClose }: { of: Key; onClose: () => void }) {
  const { me } = useConsole();
  const queries = useQueryClient();
  const own = key.id === me.keyId;
  return (
    <Confirm
      title={`Revoke the key ${key.name === "" ? key.id : `“${key.name}”`}?`}
      action="Revoke"
      onClose={onClose}
      run={async () => {
        await api.DELETE("/v1/keys/{key}", { params: { path: { key: key.id } } });
        notify("Key revoked.");
        await queries.invalidateQueries({ queryKey: own ? callerKey : keysKey });
      }}
    >
      <p className="text-sm text-soft">
        {allows(key)} · <code className="break-all">{key.id}</code>
      </p>
      <p>It stops working at once, including open streams. Programs that use it need another key.</p>
      {key.role === "admin" && !own && <p>If the command line on the server's machine uses it, create another one: shoal keys create --role admin.</p>}
      {own && <p className="font-medium text-warn">This browser is signed in with it: you will be signed out.</p>}
    </Confirm>
  );
}
