// Creates, closes and deletes sessions, and closes spaces with a summary.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useId, useState } from "react";
import { api } from "@/api/client";
import { ShoalError, type Session, type Space } from "@shoal-dev/client";
import { useConsole } from "@/app/console";
import { inBrowser } from "@/app/storage";
import { wrongID } from "@/connect/identity";
import { useKeyOf } from "@/space/idempotency";
import { Button } from "@/ui/button";
import { Confirm } from "@/ui/confirm";
import { Dialog } from "@/ui/dialog";
import { AreaField, TextField } from "@/ui/field";
import { notify } from "@/ui/notice";
import { Failed } from "@/ui/placeholder";

/** The query key of the list of sessions. */
export const sessionsKey = ["sessions"] as const;
/** The session that always exists. */
export const defaultSession = "default";

const asNobody = { "X-Shoal-Entity": "" } as const;

/** The dialog for a new session. It opens the session that it creates. */
export function NewSession({ onClose }: { onClose: () => void }) {
  const { session } = useConsole();
  const queries = useQueryClient();
  const go = useNavigate();
  const form = useId();
  const [name, setName] = useState("");
  const [id, setID] = useState("");
  const [tried, setTried] = useState(false);
  const wrong = id === "" ? undefined : wrongID(id);
  const idempotency = useKeyOf(JSON.stringify([id, name]));
  const make = useMutation({
    mutationFn: () => api.POST("/v1/sessions", { headers: { ...asNobody, "Idempotency-Key": idempotency }, body: { id: id === "" ? undefined : id, name: name.trim() === "" ? undefined : name.trim() } }),
    onSuccess: (made) => {
      void queries.invalidateQueries({ queryKey: sessionsKey });
      void go({ to: "/s/$session/sessions", params: { session }, search: { id: made.id } });
      onClose();
    },
  });
  const problem = make.isError ? ShoalError.from(make.error) : undefined;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setTried(true);
    if (wrong === undefined) make.mutate();
  };
  return (
    <Dialog
      open
      onClose={onClose}
      title="New session"
      about="An isolated workspace: its participants, spaces, runs and keys cannot see other sessions."
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button tone="primary" type="submit" form={form} busy={make.isPending}>
            Create
          </Button>
        </>
      }
    >
      <form id={form} onSubmit={submit} noValidate className="flex flex-col gap-4">
        <TextField label="Name" value={name} onChange={(e) => setName(e.target.value)} error={problem?.at("body.name")} />
        <TextField label="Id" value={id} onChange={(e) => setID(e.target.value.trim())} autoComplete="off" spellCheck={false} hint="Optional. It cannot be changed later." error={problem?.at("body.id") ?? (tried ? wrong : undefined)} />
        {problem !== undefined && problem.fields.length === 0 && <Failed error={problem} />}
      </form>
    </Dialog>
  );
}

/** Asks for confirmation before a session is closed. */
export function CloseSession({ session, onClose }: { session: Session; onClose: () => void }) {
  const queries = useQueryClient();
  return (
    <Confirm
      title={`Close the session “${session.name}”?`}
      action="Close session"
      word={session.id}
      onClose={onClose}
      run={async () => {
        await api.POST("/v1/sessions/{session}/close", { headers: asNobody, params: { path: { session: session.id } } });
        notify(`Closed ${session.name}.`);
        await queries.invalidateQueries({ queryKey: sessionsKey });
      }}
    >
      <p>Its runs end and it becomes read-only. A closed session cannot be reopened.</p>
    </Confirm>
  );
}

/** Asks for confirmation before a session is erased. A person who is in it is taken to the default session. */
export function DeleteSession({ session, onClose }: { session: Session; onClose: () => void }) {
  const console = useConsole();
  const queries = useQueryClient();
  const go = useNavigate();
  return (
    <Confirm
      title={`Delete the session “${session.name}”?`}
      action="Delete session"
      word={session.id}
      onClose={onClose}
      run={async () => {
        await api.DELETE("/v1/sessions/{session}", { headers: asNobody, params: { path: { session: session.id } } });
        notify(`Deleted ${session.name}.`);
        const stay = session.id === console.session ? defaultSession : console.session;
        if (stay !== console.session) inBrowser.removeItem("shoal.session");
        void go({ to: "/s/$session/sessions", params: { session: stay }, search: {} });
        await queries.invalidateQueries({ queryKey: sessionsKey });
      }}
    >
      <p>Its participants, spaces, messages, runs, files and keys are erased permanently. Connected clients are disconnected.</p>
      {session.id === console.session && <p className="font-medium text-warn">You are in this session now.</p>}
    </Confirm>
  );
}

/** Asks for the summary and closes a space. */
export function CloseSpace({ space, onClose }: { space: Space; onClose: () => void }) {
  const form = useId();
  const [summary, setSummary] = useState("");
  const closing = useMutation({
    mutationFn: () => api.POST("/v1/sessions/{session}/spaces/{space}/close", { headers: asNobody, params: { path: { session: space.sessionId, space: space.id } }, body: { summary: summary.trim() } }),
    onSuccess: () => {
      notify(`Closed ${space.name}.`);
      onClose();
    },
  });
  const problem = closing.isError ? ShoalError.from(closing.error) : undefined;
  return (
    <Dialog
      open
      onClose={onClose}
      title={`Close ${space.name}?`}
      about="The space becomes read-only. Every member gets the summary."
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button tone="danger" type="submit" form={form} busy={closing.isPending} disabled={summary.trim() === ""}>
            Close space
          </Button>
        </>
      }
    >
      <form
        id={form}
        onSubmit={(event) => {
          event.preventDefault();
          closing.mutate();
        }}
        className="flex flex-col gap-3"
      >
        <AreaField label="Summary" value={summary} onChange={(e) => setSummary(e.target.value)} error={problem?.at("body.summary")} />
        {problem !== undefined && problem.fields.length === 0 && <Failed error={problem} />}
      </form>
    </Dialog>
  );
}
