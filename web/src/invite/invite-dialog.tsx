// Invites a person: chooses spaces, role and time, and shows the link, once.
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useId, useState } from "react";
import { api } from "@/api/client";
import { allPages, type Invite, ShoalError } from "@shoal-dev/client";
import { type Act, useConsole } from "@/app/console";
import { Copyable } from "@/connect/copyable";
import { Button } from "@/ui/button";
import { Dialog } from "@/ui/dialog";
import { CheckField, SelectField, TextField } from "@/ui/field";
import { Failed, Loading } from "@/ui/placeholder";
import { Moment } from "@/ui/time";
import { invitesKey } from "./queries";

const hour = 60 * 60 * 1000;
const lives = [
  { name: "1 hour", ms: hour },
  { name: "1 day", ms: 24 * hour },
  { name: "3 days", ms: 72 * hour },
  { name: "7 days", ms: 7 * 24 * hour },
  { name: "30 days", ms: 30 * 24 * hour - hour },
] as const;

/** The roles by what they allow, and the acts of docs/roles.md without which nobody can give them. */
const roles = {
  member: { about: "Reads and writes in the spaces that they are in.", needs: [] },
  guest: { about: "Writes in the spaces that they are in, but creates and changes none and approves nothing.", needs: [] },
  admin: { about: "What members may, and also to invite people, moderate spaces and read the audit log.", needs: ["moderate"] },
  auditor: { about: "Reads everything in this session, and writes nothing.", needs: ["see_everything", "read_models", "read_audit"] },
  owner: { about: "Everything in this session: members, keys, agents and all spaces.", needs: ["manage"] },
} as const satisfies Record<string, { about: string; needs: readonly Act[] }>;

type Role = keyof typeof roles;

/** The form; after the invitation was created, its link. `space` is ticked at first. */
export function InviteDialog({ space, onClose }: { space?: string; onClose: () => void }) {
  const [made, setMade] = useState<Invite>();
  const [busy, setBusy] = useState(false);
  const form = useId();
  if (made !== undefined) {
    return (
      <Dialog
        open
        onClose={onClose}
        title="Send this link to one person"
        about="The first person to open it is in. It is shown only now, and works once."
        actions={
          <Button tone="primary" onClick={onClose}>
            Done
          </Button>
        }
      >
        <div className="flex flex-col gap-3">
          {made.url !== null && <Copyable name="Invitation" text={made.url} />}
          <p className="text-sm text-soft">
            It expires <Moment at={made.expiresAt} />. Until then you can withdraw it under Settings, Members.
          </p>
        </div>
      </Dialog>
    );
  }
  return (
    <Dialog
      open
      onClose={onClose}
      title="Invite a person"
      about="You get a link. The person who opens it chooses a name and is in."
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button tone="primary" type="submit" form={form} busy={busy}>
            Create the link
          </Button>
        </>
      }
    >
      <InviteForm id={form} space={space} onBusy={setBusy} onMade={setMade} />
    </Dialog>
  );
}

function InviteForm({ id, space, onBusy, onMade }: { id: string; space: string | undefined; onBusy: (busy: boolean) => void; onMade: (invite: Invite) => void }) {
  const { session, may } = useConsole();
  const queries = useQueryClient();
  const [name, setName] = useState("");
  const [role, setRole] = useState<Role>("member");
  const [life, setLife] = useState("3 days");
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set([space ?? "welcome"]));
  const spaces = useQuery({
    queryKey: [session, "invite-spaces"],
    queryFn: () => allPages((cursor) => api.GET("/v1/sessions/{session}/spaces", { params: { path: { session }, query: { limit: 200, cursor } } })),
  });
  const open = (spaces.data ?? []).filter((s) => s.status === "open");
  const make = useMutation({
    mutationFn: () => {
      const ms = lives.find((l) => l.name === life)?.ms ?? 72 * hour;
      return api.POST("/v1/sessions/{session}/invites", {
        params: { path: { session } },
        body: {
          name: name.trim(),
          sessionRole: role,
          spaces: open.filter((s) => chosen.has(s.id)).map((s) => s.id),
          expiresAt: new Date(Date.now() + ms).toISOString(),
        },
      });
    },
    onMutate: () => onBusy(true),
    onSettled: () => onBusy(false),
    onSuccess: (invite) => {
      void queries.invalidateQueries({ queryKey: invitesKey(session) });
      onMade(invite);
    },
  });
  const problem = make.isError ? ShoalError.from(make.error) : undefined;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    make.mutate();
  };
  const toggle = (space: string) => {
    const next = new Set(chosen);
    if (!next.delete(space)) next.add(space);
    setChosen(next);
  };
  return (
    <form id={id} onSubmit={submit} className="flex flex-col gap-4">
      <TextField label="For whom (a note for you)" value={name} onChange={(e) => setName(e.target.value)} maxLength={200} placeholder="Ann" error={problem?.at("body.name")} />
      <fieldset className="flex flex-col gap-1">
        <legend className="mb-1 text-sm font-medium">Spaces</legend>
        {spaces.isPending && <Loading />}
        {spaces.isError && <Failed error={spaces.error} retry={() => void spaces.refetch()} />}
        <div className="max-h-40 overflow-y-auto rounded-md border border-line px-2 py-1">
          {open.map((s) => (
            <CheckField key={s.id} label={s.name} checked={chosen.has(s.id)} onChange={() => toggle(s.id)} />
          ))}
        </div>
      </fieldset>
      <SelectField label="Role" value={role} onChange={(e) => setRole(e.target.value as Role)} hint={roles[role].about}>
        {Object.entries(roles).map(
          ([r, { needs }]) =>
            needs.every(may) && (
              <option key={r} value={r}>
                {r}
              </option>
            ),
        )}
      </SelectField>
      <SelectField label="The link works for" value={life} onChange={(e) => setLife(e.target.value)} error={problem?.at("body.expiresAt")}>
        {lives.map((l) => (
          <option key={l.name} value={l.name}>
            {l.name}
          </option>
        ))}
      </SelectField>
      {problem !== undefined && problem.at("body.name") === undefined && problem.at("body.expiresAt") === undefined && <Failed error={problem} />}
    </form>
  );
}
