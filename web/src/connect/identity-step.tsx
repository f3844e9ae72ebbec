// Step 2: the identity of the client, the spaces that it joins, and its key.
import { useMutation, useQuery } from "@tanstack/react-query";
import { KeyRound } from "lucide-react";
import { type FormEvent, useState } from "react";
import { api } from "@/api/client";
import { allPages } from "@shoal-dev/client";
import { useConsole } from "@/app/console";
import { useEntities, useLive } from "@/live/hooks";
import { byName } from "@/space/sections";
import { Button } from "@/ui/button";
import { CheckField, SelectField, TextField } from "@/ui/field";
import { Failed } from "@/ui/placeholder";
import { Copyable } from "./copyable";
import { connect, type Connected, wrongID } from "./identity";

interface Props {
  /** The agent from the address. */
  readonly asked: string | undefined;
  readonly made: Connected | undefined;
  readonly onMade: (made: Connected) => void;
}

/** For admins: chooses the identity and creates its key. */
export function IdentityStep({ asked, made, onMade }: Props) {
  const { session } = useConsole();
  const live = useLive();
  const agents = useEntities().filter((e) => e.kind === "agent" && !e.hosted);
  const [existing, setExisting] = useState(asked ?? "");
  const [fresh, setFresh] = useState("");
  const [tried, setTried] = useState(false);
  const [joined, setJoined] = useState<readonly string[]>([]);
  const spaces = useQuery({
    queryKey: [session, "all-spaces"],
    queryFn: () => allPages((cursor) => api.GET("/v1/sessions/{session}/spaces", { headers: { "X-Shoal-Entity": "" }, params: { path: { session }, query: { limit: 200, cursor } } })),
  });
  const id = existing !== "" ? existing : fresh.trim();
  const wrong = wrongID(id);
  const creation = useMutation({
    mutationFn: () => connect({ session, entity: id, spaces: joined }),
    onSuccess: (what) => {
      // The stream reports a new entity only once it does something.
      live.share([{ type: "entity.updated", at: what.entity.createdAt, runId: null, spaceId: null, entity: what.entity }]);
      onMade(what);
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setTried(true);
    if (wrong === undefined) creation.mutate();
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-4" noValidate>
      <div className="grid gap-4 sm:grid-cols-2">
        <SelectField label="Agent" value={existing} onChange={(e) => setExisting(e.target.value)} hint="Hosted agents are not listed: the server runs them.">
          <option value="">New agent</option>
          {agents.map((a) => (
            <option key={a.id} value={a.id}>
              {a.name === a.id ? a.id : `${a.name} (${a.id})`}
            </option>
          ))}
        </SelectField>
        {existing === "" && <TextField label="Id" value={fresh} onChange={(e) => setFresh(e.target.value)} autoComplete="off" spellCheck={false} placeholder="scout" hint="Used in mentions. It cannot be changed later." error={tried ? wrong : undefined} />}
      </div>
      <fieldset className="flex flex-col gap-1">
        <legend className="text-sm font-medium">Spaces to join</legend>
        {spaces.isError && <Failed error={spaces.error} retry={() => void spaces.refetch()} />}
        <div className="grid max-h-48 gap-x-4 overflow-y-auto touch:max-h-none sm:grid-cols-2">
          {(spaces.data ?? [])
            .filter((s) => s.status === "open")
            .sort((a, b) => byName(a.name, b.name))
            .map((s) => {
              const member = s.members.some((m) => m.entityId === id);
              return (
                <CheckField
                  key={s.id}
                  label={<span className="break-words">{member ? `${s.name} (already a member)` : s.name}</span>}
                  checked={member || joined.includes(s.id)}
                  disabled={member}
                  onChange={(e) => setJoined(e.target.checked ? [...joined, s.id] : joined.filter((j) => j !== s.id))}
                />
              );
            })}
        </div>
      </fieldset>
      <div>
        <Button type="submit" tone={made === undefined ? "primary" : "plain"} busy={creation.isPending} icon={<KeyRound aria-hidden className="size-4" />}>
          {made === undefined ? "Create key" : "Create another key"}
        </Button>
      </div>
      {creation.isError && <Failed error={creation.error} />}
      {made !== undefined && <CreatedKey made={made} />}
    </form>
  );
}

function CreatedKey({ made }: { made: Connected }) {
  return (
    <div role="status" className="flex flex-col gap-2 rounded-lg border border-ok bg-ok-soft p-4">
      <p className="font-medium text-ok">The key of {made.entity.id} is shown only once. Copy it now.</p>
      {made.key.key !== null && <Copyable name="SHOAL_AGENT_KEY" text={made.key.key} />}
      <p className="text-sm text-soft">Everybody who has this key can act as {made.entity.id}. Revoke it under Settings, Keys.</p>
      {made.refused.map((r) => (
        <p key={r.space} className="text-sm text-bad">
          Could not join {r.space}: {r.why}
        </p>
      ))}
    </div>
  );
}
