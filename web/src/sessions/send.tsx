// Sends a message to a space of any session, as one of its entities.
import { useMutation } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Send, UserPlus } from "lucide-react";
import { type FormEvent, useState } from "react";
import { api } from "@/api/client";
import { useConsole } from "@/app/console";
import { useConnection, useEntities, useSpaces } from "@/live/hooks";
import { useKeyOf } from "@/space/idempotency";
import { useMembership } from "@/space/membership";
import { Button } from "@/ui/button";
import { AreaField, CheckField, SelectField } from "@/ui/field";
import { Failed } from "@/ui/placeholder";
import { ActAs } from "./act-as";

const byName = (a: { readonly name: string }, b: { readonly name: string }) => a.name.localeCompare(b.name);

/** Uses the session of the surrounding store. In the reader's own session the sender is the acting entity. */
export function SendPanel({ session }: { session: string }) {
  const console = useConsole();
  const own = session === console.session;
  const entities = [...useEntities()].sort(byName);
  const [chosen, choose] = useState("");
  const sender = own ? (console.actor ?? "") : chosen;
  return (
    <div className="flex flex-col gap-4 rounded-lg border border-line bg-surface p-4">
      {own ? (
        <ActAs />
      ) : (
        <SelectField label="Send as" value={chosen} onChange={(e) => choose(e.target.value)}>
          <option value="">Choose a participant</option>
          {entities.map((e) => (
            <option key={e.id} value={e.id}>
              {e.name === e.id ? e.id : `${e.name} (${e.id})`}
            </option>
          ))}
        </SelectField>
      )}
      {sender !== "" && <SendForm key={sender} session={session} sender={sender} />}
    </div>
  );
}

function SendForm({ session, sender }: { session: string; sender: string }) {
  const spaces = useSpaces()
    .filter((s) => s.status === "open")
    .sort(byName);
  const [chosen, choose] = useState("");
  const [text, setText] = useState("");
  const [mentions, setMentions] = useState<readonly string[]>([]);
  const offline = useConnection().state !== "live";
  const space = spaces.find((s) => s.id === chosen) ?? spaces.find((s) => s.members.some((m) => m.entityId === sender)) ?? spaces[0];
  const as = { "X-Shoal-Entity": sender };
  const [sent, setSent] = useState(0);
  const idempotency = useKeyOf(JSON.stringify([space?.id, text, mentions, sent]));
  const send = useMutation({
    mutationFn: (to: string) => api.POST("/v1/sessions/{session}/spaces/{space}/messages", { params: { path: { session, space: to } }, headers: { ...as, "Idempotency-Key": idempotency }, body: { text, mentions: [...mentions] } }),
    onSuccess: () => {
      setSent(sent + 1);
      setText("");
      setMentions([]);
    },
  });
  const join = useMutation({
    mutationFn: (to: string) => api.PUT("/v1/sessions/{session}/spaces/{space}/members/{entity}", { headers: { "X-Shoal-Entity": "" }, params: { path: { session, space: to, entity: sender } } }),
  });
  const member = useMembership(space, sender);
  if (space === undefined) return <p className="text-soft">This session has no open space.</p>;
  const others = space.members.filter((m) => m.entityId !== sender);
  const submit = (event?: FormEvent) => {
    event?.preventDefault();
    if (member === true && text.trim() !== "" && !offline) send.mutate(space.id);
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-4">
      <SelectField
        label="Space"
        value={space.id}
        onChange={(e) => {
          choose(e.target.value);
          setMentions([]);
        }}
      >
        {spaces.map((s) => (
          <option key={s.id} value={s.id}>
            {s.name}
          </option>
        ))}
      </SelectField>
      {member !== false ? (
        <>
          <AreaField
            label="Message"
            value={text}
            onChange={(e) => setText(e.target.value)}
            onKeyDown={(e) => {
              if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) submit();
            }}
          />
          {others.length > 0 && (
            <fieldset>
              <legend className="text-sm font-medium">Mention</legend>
              <div className="flex flex-wrap gap-x-4">
                {others.map((m) => (
                  <CheckField key={m.entityId} label={m.name} checked={mentions.includes(m.entityId)} onChange={(e) => setMentions(e.target.checked ? [...mentions, m.entityId] : mentions.filter((x) => x !== m.entityId))} />
                ))}
              </div>
            </fieldset>
          )}
          <div className="flex flex-wrap items-center gap-3">
            <Button type="submit" tone="primary" icon={<Send aria-hidden className="size-4" />} busy={send.isPending} disabled={member !== true || text.trim() === "" || offline}>
              Send as {sender}
            </Button>
            {offline && <span className="text-sm text-warn">Server unreachable. Sending is disabled until it's back.</span>}
            {send.data !== undefined && (
              <Link to="/s/$session/spaces/$space" params={{ session, space: send.data.spaceId }} search={{ seq: send.data.seq }} className="text-accent underline">
                Sent
              </Link>
            )}
          </div>
        </>
      ) : (
        <div className="flex flex-col items-start gap-2">
          <p className="text-soft">
            {sender} is not a member of {space.name}and cannot write there.
          </p>
          <Button icon={<UserPlus aria-hidden className="size-4" />} busy={join.isPending} onClick={() => join.mutate(space.id)}>
            Add
          </Button>
        </div>
      )}
      {send.isError && <Failed error={send.error} />}
      {join.isError && <Failed error={join.error} />}
    </form>
  );
}
