// Permissions: approved or denied, with a reason, for this call or for later ones.
import { useState } from "react";
import type { PendingAction } from "@/api/shapes";
import { Button } from "@/ui/button";
import { SelectField, TextField } from "@/ui/field";
import type { Answering } from "./answering";
import { permissionBody } from "./body";

/** Two buttons; neither is pressed by a single key, and neither has the focus by itself. */
export function PermissionAnswer({ pending, answering, disabled }: { pending: PendingAction; answering: Answering; disabled: boolean }) {
  const [reason, setReason] = useState("");
  const [always, setAlways] = useState(false);
  const send = (approved: boolean) => void answering.send(permissionBody(approved, reason.trim(), always));
  const off = disabled || answering.busy;
  return (
    <div className="flex flex-col gap-3">
      <div className="grid gap-3 sm:grid-cols-2">
        <TextField label={<>Reason <span className="font-normal text-soft">(optional)</span></>} hint="The agent reads it." value={reason} disabled={off} error={answering.faults.get("reason")} onChange={(e) => setReason(e.target.value)} autoComplete="off" />
        {pending.toolName !== "" && (
          <SelectField label="It holds for" hint="What you choose for later calls is not asked again." value={always ? "always" : "once"} disabled={off} onChange={(e) => setAlways(e.target.value === "always")}>
            <option value="once">this call</option>
            <option value="always">later calls of this tool here, too</option>
          </SelectField>
        )}
      </div>
      <div className="flex flex-wrap gap-2">
        <Button tone="primary" disabled={off} busy={answering.busy} onClick={() => send(true)}>
          {always ? "Always approve" : "Approve"}
        </Button>
        <Button tone="danger" disabled={off} onClick={() => send(false)}>
          {always ? "Always deny" : "Deny"}
        </Button>
      </div>
    </div>
  );
}
