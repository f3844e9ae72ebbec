// Creates or changes a participant.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useId, useState } from "react";
import { api } from "@/api/client";
import { type Entity, ShoalError } from "@shoal-dev/client";
import { useConsole } from "@/app/console";
import { wrongID } from "@/connect/identity";
import { useLive } from "@/live/hooks";
import { Button } from "@/ui/button";
import { Dialog } from "@/ui/dialog";
import { AreaField, SelectField, TextField } from "@/ui/field";
import { notify } from "@/ui/notice";
import { Failed } from "@/ui/placeholder";
import { entitiesKey } from "./queries";

/** The entity to change; without one, a new entity is created. */
export function EntityDialog({ entity, onClose }: { entity: Entity | undefined; onClose: () => void }) {
  const { session } = useConsole();
  const queries = useQueryClient();
  const live = useLive();
  const form = useId();
  const [id, setID] = useState("");
  const [kind, setKind] = useState<"human" | "agent">("human");
  const [name, setName] = useState(entity?.name ?? "");
  const [description, setDescription] = useState(entity?.description ?? "");
  const [externalId, setExternalId] = useState(entity?.externalId ?? "");
  const [tried, setTried] = useState(false);
  const headers = { "X-Shoal-Entity": "" };
  const save = useMutation({
    mutationFn: (): Promise<Entity> => {
      const said = { name: name.trim() === "" ? undefined : name.trim(), description, externalId: externalId.trim() === (entity?.externalId ?? "") ? undefined : externalId.trim() };
      if (entity === undefined) return api.POST("/v1/sessions/{session}/entities", { headers, params: { path: { session } }, body: { id, kind, ...said } });
      return api.PATCH("/v1/sessions/{session}/entities/{entity}", { headers, params: { path: { session, entity: entity.id } }, body: said });
    },
    onSuccess: (saved) => {
      // The stream reports a new entity only once it does something.
      live.share([{ type: "entity.updated", at: saved.createdAt, runId: null, spaceId: null, entity: saved }]);
      void queries.invalidateQueries({ queryKey: entitiesKey(session) });
      notify(entity === undefined ? `Saved ${saved.name}.` : "Saved.");
      onClose();
    },
  });
  const problem = save.isError ? ShoalError.from(save.error) : undefined;
  const wrong = entity === undefined ? wrongID(id) : undefined;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setTried(true);
    if (wrong === undefined) save.mutate();
  };
  return (
    <Dialog
      open
      onClose={onClose}
      title={entity === undefined ? "Add a participant" : `Edit ${entity.name}`}
      about={entity === undefined ? "A person, or an agent with its own model. Create hosted agents on the Agents page." : undefined}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button tone="primary" type="submit" form={form} busy={save.isPending}>
            {entity === undefined ? "Add" : "Save"}
          </Button>
        </>
      }
    >
      <form id={form} onSubmit={submit} noValidate className="flex flex-col gap-4">
        {entity === undefined && (
          <>
            <SelectField label="Kind" value={kind} onChange={(e) => setKind(e.target.value === "agent" ? "agent" : "human")}>
              <option value="human">person</option>
              <option value="agent">agent</option>
            </SelectField>
            <TextField label="Id" value={id} onChange={(e) => setID(e.target.value.trim())} autoComplete="off" spellCheck={false} hint="Used in mentions. It cannot be changed later." error={problem?.at("body.id") ?? (tried ? wrong : undefined)} />
          </>
        )}
        <TextField label="Name" value={name} onChange={(e) => setName(e.target.value)} hint={entity === undefined ? "Optional. The id is used if it is empty." : undefined} error={problem?.at("body.name")} />
        <AreaField label="Description" value={description} onChange={(e) => setDescription(e.target.value)} hint="Agents read it when they list participants." error={problem?.at("body.description")} />
        <TextField label="External id" value={externalId} onChange={(e) => setExternalId(e.target.value)} autoComplete="off" hint="Optional: the id at your identity provider." error={problem?.at("body.externalId")} />
        {problem !== undefined && problem.fields.length === 0 && <Failed error={problem} />}
      </form>
    </Dialog>
  );
}
