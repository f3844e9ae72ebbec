// The browsers, command lines and programs that are signed in: as this person, and for admins and owners all of them.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "@/api/client";
import { callerKey } from "@/app/identity";
import { useConsole } from "@/app/console";
import { allPages, type Key } from "@shoal-dev/client";
import { Badge } from "@/ui/badge";
import { Button } from "@/ui/button";
import { Confirm } from "@/ui/confirm";
import { notify } from "@/ui/notice";
import { Failed, Loading } from "@/ui/placeholder";
import { Moment } from "@/ui/time";
import { signInsKey } from "./queries";

/** The list. */
export function SignIns() {
  const { me, admin } = useConsole();
  const [ending, setEnding] = useState<Key>();
  const found = useQuery({ queryKey: signInsKey, queryFn: () => allPages((cursor) => api.GET("/v1/keys", { params: { query: { signIns: true, limit: 200, cursor } } })) });
  const own = me.signInId ?? me.keyId;
  return (
    <section aria-labelledby="sign-ins" className="flex flex-col gap-3">
      <h3 id="sign-ins" className="text-lg font-semibold">
        Signed-in devices
      </h3>
      <p className="text-soft">{admin ? "All browsers, command lines and programs that are signed in to this server, or to your session." : "All browsers, command lines and programs that are signed in as you."} A browser is signed out after 12 hours without use, and after 30 days.</p>
      {found.isPending && <Loading />}
      {found.isError && <Failed error={found.error} retry={() => void found.refetch()} />}
      {found.isSuccess && (
        <ul className="divide-y divide-line overflow-hidden rounded-lg border border-line bg-surface">
          {[...found.data]
            .sort((a, b) => Number(b.id === own) - Number(a.id === own) || used(b).localeCompare(used(a)))
            .map((k) => (
              <SignInRow key={k.id} of={k} own={k.id === own} onEnd={() => setEnding(k)} />
            ))}
        </ul>
      )}
      {ending !== undefined && <End of={ending} own={ending.id === own} onClose={() => setEnding(undefined)} />}
    </section>
  );
}

const used = (k: Key): string => k.lastUsedAt ?? k.createdAt;
const who = (k: Key): string => (k.entityId === null ? k.role : k.entityId);

function SignInRow({ of: key, own, onEnd }: { of: Key; own: boolean; onEnd: () => void }) {
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-2 px-4 py-3">
      <div className="min-w-0 flex-1 basis-60">
        <p className="flex flex-wrap items-center gap-2">
          <span className="min-w-0 font-semibold break-words">{key.device}</span>
          {own && <Badge tone="accent">this browser</Badge>}
        </p>
        <p className="text-sm break-words text-soft">
          {who(key)}
          {key.lastAddress !== null && <> · {key.lastAddress}</>}
        </p>
        <p className="flex flex-wrap gap-x-4 text-sm text-soft">
          <span>
            signed in <Moment at={key.createdAt} />
          </span>
          <span>
            used <Moment at={used(key)} />
          </span>
        </p>
      </div>
      {!own && (
        <Button small tone="danger" onClick={onEnd} aria-label={`Sign out ${key.device ?? key.id}`}>
          Sign out
        </Button>
      )}
    </li>
  );
}

function End({ of: key, own, onClose }: { of: Key; own: boolean; onClose: () => void }) {
  const queries = useQueryClient();
  return (
    <Confirm
      title={`Sign out ${key.device ?? "this browser"}?`}
      action="Sign out"
      onClose={onClose}
      run={async () => {
        await api.DELETE("/v1/keys/{key}", { params: { path: { key: key.id } } });
        notify("Signed out.");
        await queries.invalidateQueries({ queryKey: own ? callerKey : signInsKey });
      }}
    >
      <p>It is signed out at once. What is open there stops.</p>
    </Confirm>
  );
}
