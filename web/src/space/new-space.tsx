// Makes a space: its name, who is in it, and who answers when nobody is mentioned.
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useId, useState } from "react";
import { api } from "@/api/client";
import { ShoalError } from "@shoal-dev/client";
import { useConsole } from "@/app/console";
import { Button } from "@/ui/button";
import { Dialog } from "@/ui/dialog";
import { TextField } from "@/ui/field";
import { Failed } from "@/ui/placeholder";
import { AdminAgentField, useHosted } from "./admin-agent";
import { useKeyOf } from "./idempotency";
import { PeoplePicker } from "./people-picker";

/** The dialog for a new space; it opens the space that it has made. */
export function NewSpace({ onClose }: { onClose: () => void }) {
  const { session, actor } = useConsole();
  const go = useNavigate();
  const form = useId();
  const [name, setName] = useState("");
  const [members, setMembers] = useState<ReadonlySet<string>>(new Set());
  const [admin, setAdmin] = useState("");
  const [problem, setProblem] = useState<ShoalError>();
  const [busy, setBusy] = useState(false);
  const ids = [...members];
  const hosted = useHosted(actor === null ? ids : [...ids, actor]);
  const chosen = hosted.some((h) => h.id === admin) ? admin : "";
  const lacksAdmin = hosted.length > 1 && chosen === "";
  // Pressing the button again after an answer was lost makes no second space; a form
  // that has changed since is another space.
  const filled = JSON.stringify([name, ids, chosen]);
  const idempotency = useKeyOf(filled);

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setProblem(undefined);
    setBusy(true);
    try {
      const made = await api.POST("/v1/sessions/{session}/spaces", {
        params: { path: { session } },
        headers: { "Idempotency-Key": idempotency },
        body: { name: name.trim(), members: ids, ...(chosen === "" ? {} : { adminAgentId: chosen }) },
      });
      onClose();
      await go({ to: "/s/$session/spaces/$space", params: { session, space: made.id } });
    } catch (error) {
      setProblem(ShoalError.from(error));
    } finally {
      setBusy(false);
    }
  };

  const needsAdmin = problem?.code === "admin_required";
  const adminField = problem?.fields.find((f) => f.location === "body.adminAgentId");
  const nameField = problem?.fields.find((f) => f.location === "body.name");
  return (
    <Dialog
      open
      onClose={onClose}
      title="New space"
      about="A shared timeline for people and agents."
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" form={form} tone="primary" busy={busy} disabled={name.trim() === "" || lacksAdmin}>
            Create space
          </Button>
        </>
      }
    >
      <form id={form} onSubmit={(e) => void submit(e)} className="flex flex-col gap-4">
        <TextField label="Name" value={name} onChange={(e) => setName(e.target.value)} autoFocus autoComplete="off" maxLength={200} required error={nameField?.message} />
        <PeoplePicker label={actor === null ? "Members" : "Other members"} chosen={members} choose={setMembers} without={actor === null ? none : [actor]} />
        {hosted.length > 1 && <AdminAgentField members={hosted.map((h) => h.id)} value={chosen} change={setAdmin} error={adminField?.message ?? (needsAdmin ? "Choose the agent that answers messages without a mention." : undefined)} />}
        {problem !== undefined && !needsAdmin && nameField === undefined && adminField === undefined && <Failed error={problem} />}
      </form>
    </Dialog>
  );
}

const none: readonly string[] = [];
