// Permissions: approved or denied, with a reason, with other arguments, for this call
// or for later ones; or sent back with a question.
import { useState } from "react";
import type { PendingAction } from "@shoal-dev/client";
import { Button } from "@/ui/button";
import { TextField } from "@/ui/field";
import type { Answering } from "./answering";
import { permissionBody, type Remembering } from "./body";
import { AskBack, EditArgs } from "./forms";
import { canRemember, RememberFields } from "./remember";

interface Props {
  readonly pending: PendingAction;
  readonly answering: Answering;
  readonly disabled: boolean;
  readonly nameOf: (entity: string) => string;
  /** The entity that the reader acts as; null for none. */
  readonly me: string | null;
}

type Way = "decide" | "edit" | "ask";

/** Two buttons; neither is pressed by a single key, and neither has the focus by itself. */
export function PermissionAnswer({ pending, answering, disabled, nameOf, me }: Props) {
  const [way, setWay] = useState<Way>("decide");
  const [reason, setReason] = useState("");
  const [remember, setRemember] = useState<Remembering>();
  const off = disabled || answering.busy;
  const turn = (to: Way) => {
    answering.setFaults(new Map());
    setWay(to);
  };
  const send = (approved: boolean) => void answering.send(permissionBody({ approved, reason: reason.trim(), remember }));
  const why = <TextField label={<>Reason <span className="font-normal text-soft">(optional)</span></>} hint="The agent reads it." value={reason} disabled={off} error={way === "decide" ? answering.faults.get("reason") : undefined} onChange={(e) => setReason(e.target.value)} autoComplete="off" />;
  if (way === "edit") {
    const approve = (args: string | undefined) => void answering.send(permissionBody({ approved: true, reason: reason.trim(), args }));
    return <EditArgs pending={pending} answering={answering} disabled={off} approve={approve} back={() => turn("decide")} />;
  }
  if (way === "ask") {
    return <AskBack answering={answering} disabled={off} agent={nameOf(pending.agentId)} back={() => turn("decide")} />;
  }
  return (
    <div className="flex flex-col gap-3">
      <div className="grid items-start gap-3 sm:grid-cols-2">
        {why}
        {canRemember(pending, me) && <RememberFields pending={pending} value={remember} disabled={off} nameOf={nameOf} onChange={setRemember} />}
      </div>
      <div className="flex flex-wrap items-center gap-2">
        <Button tone="primary" disabled={off} busy={answering.busy} onClick={() => send(true)}>
          {remember === undefined ? "Approve" : "Approve and remember"}
        </Button>
        <Button tone="danger" disabled={off} onClick={() => send(false)}>
          {remember === undefined ? "Deny" : "Deny and remember"}
        </Button>
        {pending.toolName !== "" && pending.argsSchema !== null && (
          <Button disabled={off} onClick={() => turn("edit")}>
            Edit and approve
          </Button>
        )}
        <Button small tone="quiet" className="text-soft" disabled={off} onClick={() => turn("ask")}>
          Ask a question
        </Button>
      </div>
      {pending.argsSchema === null && <p className="text-sm text-soft">The arguments cannot be changed here. To have others, deny the call and name them in the reason.</p>}
    </div>
  );
}
