// The acting entity: its name, and what others read about it.
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { api } from "@/api/client";
import { type Entity, ShoalError } from "@shoal-dev/client";
import { useConsole } from "@/app/console";
import { useLive } from "@/live/hooks";
import { ActAs } from "@/sessions/act-as";
import { Button } from "@/ui/button";
import { AreaField, TextField } from "@/ui/field";
import { notify } from "@/ui/notice";
import { Failed, Loading } from "@/ui/placeholder";

/** The form for the acting entity, which admins choose here. */
export function Profile() {
  const { actor, admin, me } = useConsole();
  return (
    <>
      {admin && <ActAs />}
      {actor !== null && <Acting entity={actor} />}
      {actor === null && !admin && <p>You are signed in with a {me.role} key, which acts as no participant and has no profile.</p>}
    </>
  );
}

function Acting({ entity }: { entity: string }) {
  const { session } = useConsole();
  const found = useQuery({
    queryKey: [session, entity, "entity"],
    queryFn: () => api.GET("/v1/sessions/{session}/entities/{entity}", { params: { path: { session, entity } } }),
  });
  if (found.isPending) return <Loading />;
  if (found.isError) return <Failed error={found.error} retry={() => void found.refetch()} />;
  return <ProfileForm key={entity} entity={found.data} />;
}

function ProfileForm({ entity }: { entity: Entity }) {
  const { may } = useConsole();
  const queries = useQueryClient();
  const live = useLive();
  const [name, setName] = useState(entity.name);
  const [description, setDescription] = useState(entity.description);
  const save = useMutation({
    mutationFn: () =>
      api.PATCH("/v1/sessions/{session}/entities/{entity}", { params: { path: { session: entity.sessionId, entity: entity.id } }, body: { name, description } }),
    onSuccess: (saved) => {
      queries.setQueryData([entity.sessionId, entity.id, "entity"], saved);
      live.share([{ type: "entity.updated", at: saved.createdAt, runId: null, spaceId: null, entity: saved }]);
      notify("Saved.");
    },
  });
  const problem = save.isError ? ShoalError.from(save.error) : undefined;
  const changed = name !== entity.name || description !== entity.description;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate();
  };
  return (
    <form onSubmit={submit} className="flex max-w-xl flex-col gap-4">
      <p>
        Others mention you as <code className="rounded bg-sunken px-1.5 py-0.5 font-mono">@{entity.id}</code>. This id cannot be changed; your name can.
      </p>
      <fieldset disabled={!may("present")} className="contents">
        <TextField label="Name" value={name} onChange={(e) => setName(e.target.value)} error={problem?.at("body.name")} />
        <AreaField label="About you" hint="Agents read it when they list participants." value={description} onChange={(e) => setDescription(e.target.value)} error={problem?.at("body.description")} />
      </fieldset>
      {problem !== undefined && problem.fields.length === 0 && <Failed error={problem} />}
      {may("present") && (
        <div>
          <Button type="submit" tone="primary" busy={save.isPending} disabled={!changed}>
            Save
          </Button>
        </div>
      )}
    </form>
  );
}
