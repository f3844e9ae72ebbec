// The dialogs of a space's menu. Each says what will happen before it happens.
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, type ReactNode, useId, useState } from "react";
import { api } from "@/api/client";
import type { ShoalError, Space } from "@shoal-dev/client";
import { useConsole } from "@/app/console";
import { useName } from "@/live/hooks";
import { Button } from "@/ui/button";
import { Dialog } from "@/ui/dialog";
import { AreaField, TextField } from "@/ui/field";
import { Failed } from "@/ui/placeholder";
import { AdminAgentField, useHosted } from "./admin-agent";
import { pathOf } from "./path-of";
import { PeoplePicker } from "./people-picker";
import { type Action, useAction } from "./use-action";

/** Which dialog of a space is open. */
export type SpaceDialog = "rename" | "admin" | "close" | "delete" | "leave" | "add" | { readonly remove: string };

interface Props {
  readonly space: Space;
  readonly onClose: () => void;
}

export function SpaceDialogs({ shown, ...props }: Props & { shown: SpaceDialog }) {
  switch (shown) {
    case "rename":
      return <Rename {...props} />;
    case "admin":
      return <AdminAgent {...props} />;
    case "close":
      return <CloseSpace {...props} />;
    case "delete":
      return <DeleteSpace {...props} />;
    case "leave":
      return <Leave {...props} />;
    case "add":
      return <Invite {...props} />;
    default:
      return <Remove {...props} entity={shown.remove} />;
  }
}

function Form({ title, about, submit, danger = false, disabled = false, action, onClose, call, children }: { title: string; about?: ReactNode; submit: string; danger?: boolean; disabled?: boolean; action: Action; onClose: () => void; call: () => Promise<unknown>; children?: ReactNode }) {
  const id = useId();
  const send = async (event: FormEvent) => {
    event.preventDefault();
    if (await action.run(call)) onClose();
  };
  return (
    <Dialog
      open
      onClose={onClose}
      title={title}
      about={about}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" form={id} tone={danger ? "danger" : "primary"} busy={action.busy} disabled={disabled}>
            {submit}
          </Button>
        </>
      }
    >
      <form id={id} onSubmit={(e) => void send(e)} className="flex flex-col gap-4">
        {children}
        {action.problem !== undefined && action.problem.fields.length === 0 && <Failed error={action.problem} />}
      </form>
    </Dialog>
  );
}

const wrong = (problem: ShoalError | undefined, field: string) => problem?.fields.find((f) => f.location === `body.${field}`)?.message;

function Rename({ space, onClose }: Props) {
  const action = useAction();
  const [name, setName] = useState(space.name);
  return (
    <Form title="Rename space" submit="Rename" action={action} onClose={onClose} disabled={name.trim() === ""} call={() => api.PATCH("/v1/sessions/{session}/spaces/{space}", { params: pathOf(space), body: { name: name.trim() } })}>
      <TextField label="Name" value={name} onChange={(e) => setName(e.target.value)} maxLength={200} autoFocus required error={wrong(action.problem, "name")} />
    </Form>
  );
}

function AdminAgent({ space, onClose }: Props) {
  const action = useAction();
  const [agent, setAgent] = useState(space.adminAgentId ?? "");
  const members = space.members.map((m) => m.entityId);
  return (
    <Form title="Admin agent" submit="Save" action={action} onClose={onClose} call={() => api.PATCH("/v1/sessions/{session}/spaces/{space}", { params: pathOf(space), body: { adminAgentId: agent } })}>
      <AdminAgentField members={members} value={agent} change={setAgent} error={wrong(action.problem, "adminAgentId")} />
    </Form>
  );
}

function CloseSpace({ space, onClose }: Props) {
  const action = useAction();
  const [summary, setSummary] = useState("");
  return (
    <Form
      title={`Close ${space.name}?`}
      about="The history stays readable, but nobody can post. Streaming messages in this space stop. A closed space cannot be reopened."
      submit="Close space"
      danger
      action={action}
      onClose={onClose}
      disabled={summary.trim() === ""}
      call={() => api.POST("/v1/sessions/{session}/spaces/{space}/close", { params: pathOf(space), body: { summary: summary.trim() } })}
    >
      <AreaField label="Summary" hint="The outcome. Every member is notified." value={summary} onChange={(e) => setSummary(e.target.value)} autoFocus required error={wrong(action.problem, "summary")} />
    </Form>
  );
}

function DeleteSpace({ space, onClose }: Props) {
  const { session } = useConsole();
  const go = useNavigate();
  const action = useAction();
  const erase = async () => {
    await api.DELETE("/v1/sessions/{session}/spaces/{space}", { params: pathOf(space) });
    await go({ to: "/s/$session/spaces", params: { session } });
  };
  return (
    <Form
      title={`Delete ${space.name}?`}
      about="This erases all messages, the records of agent activity and the files shared only in this space, for everyone. This cannot be undone."
      submit="Delete space"
      danger
      action={action}
      onClose={onClose}
      call={erase}
    />
  );
}

function Leave({ space, onClose }: Props) {
  const { session, actor, admin } = useConsole();
  const go = useNavigate();
  const action = useAction();
  const leave = async () => {
    await api.DELETE("/v1/sessions/{session}/spaces/{space}/members/{entity}", { params: { path: { ...pathOf(space).path, entity: actor ?? "" } } });
    if (!admin) await go({ to: "/s/$session/spaces", params: { session } });
  };
  return (
    <Form title={`Leave ${space.name}?`} about={admin ? "You will no longer get notifications from this space. As an admin you can still read it." : "You lose access until a member adds you again."} submit="Leave" danger action={action} onClose={onClose} call={leave} />
  );
}

function Remove({ space, entity, onClose }: Props & { entity: string }) {
  const action = useAction();
  const name = useName(entity);
  return (
    <Form
      title={`Remove ${name}?`}
      about={`${name} loses access to this space, and its streaming messages here stop. You can add it again later.`}
      submit="Remove"
      danger
      action={action}
      onClose={onClose}
      call={() => api.DELETE("/v1/sessions/{session}/spaces/{space}/members/{entity}", { params: { path: { ...pathOf(space).path, entity } } })}
    />
  );
}

// A second hosted agent needs an admin agent to be there: it is asked for in the
// same form, and set before the others are added.
function Invite({ space, onClose }: Props) {
  const action = useAction();
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [admin, setAdmin] = useState("");
  const here = space.members.map((m) => m.entityId);
  const hosted = useHosted([...here, ...chosen]);
  const needsAdmin = space.adminAgentId === null && hosted.length > 1;
  const valid = hosted.some((h) => h.id === admin) ? admin : "";
  const add = async () => {
    const path = pathOf(space).path;
    const put = (entity: string) => api.PUT("/v1/sessions/{session}/spaces/{space}/members/{entity}", { params: { path: { ...path, entity } } });
    if (needsAdmin) {
      if (!here.includes(valid)) await put(valid);
      await api.PATCH("/v1/sessions/{session}/spaces/{space}", { params: { path }, body: { adminAgentId: valid } });
    }
    for (const entity of chosen) if (entity !== valid || !needsAdmin) await put(entity);
  };
  return (
    <Form title={`Add to ${space.name}`} about="New members see the whole history. Only messages from now on count as unread." submit={chosen.size > 1 ? `Add ${chosen.size}` : "Add"} action={action} onClose={onClose} disabled={chosen.size === 0 || (needsAdmin && valid === "")} call={add}>
      <PeoplePicker label="People and agents" chosen={chosen} choose={setChosen} without={here} />
      {needsAdmin && <AdminAgentField members={hosted.map((h) => h.id)} value={valid} change={setAdmin} error={action.problem?.code === "admin_required" ? "Choose the agent that answers messages without a mention." : undefined} />}
    </Form>
  );
}
