// Decides several permission requests for one tool at once. All of them are shown, and
// nothing is decided before it is confirmed.
import { useState } from "react";
import { api } from "@/api/client";
import { type PendingAction, ShoalError } from "@shoal-dev/client";
import { useConsole } from "@/app/console";
import { useConnection, useName, useRun, useSpace } from "@/live/hooks";
import { label } from "@/parts/renderers/words";
import { Words } from "@/parts/words/words";
import { triggerText } from "@/runs/trigger";
import { Button } from "@/ui/button";
import { Dialog } from "@/ui/dialog";
import { CheckField, TextField } from "@/ui/field";
import { Moment } from "@/ui/time";
import { gist } from "./inbox";

/** The outcome of one request; an empty text for success. */
type Outcome = string;

interface Props {
  /** The requests that can be decided together: permissions for one tool of one agent. */
  group: readonly PendingAction[];
  onClose: () => void;
}

export function Bulk({ group: all, onClose }: Props) {
  const { session } = useConsole();
  const offline = useConnection().state !== "live";
  // Requests that arrive after the dialog was opened are not part of the decision.
  const [group] = useState(all);
  const [chosen, choose] = useState<ReadonlySet<string>>(new Set());
  const [reason, setReason] = useState("");
  const [confirm, setConfirm] = useState<boolean>();
  const [busy, setBusy] = useState(false);
  const [outcomes, setOutcomes] = useState<ReadonlyMap<string, Outcome>>(new Map());
  const agent = useName(group[0]?.agentId ?? "");
  const tool = label(group[0]?.toolName ?? "");
  const open = group.filter((p) => !outcomes.has(p.id));
  const picked = open.filter((p) => chosen.has(p.id));
  const decide = async (approved: boolean) => {
    setBusy(true);
    // One after the other: other people see them settled in this order.
    for (const p of picked) {
      const outcome = await answer(session, p, approved, reason.trim());
      setOutcomes((was) => new Map(was).set(p.id, outcome));
    }
    setBusy(false);
    setConfirm(undefined);
    choose(new Set());
  };
  return (
    <Dialog
      open
      wide
      onClose={() => !busy && onClose()}
      title={confirm === undefined ? `Requests from ${agent} for ${tool}` : `${confirm ? "Approve" : "Deny"} ${picked.length === 1 ? "this request" : `these ${picked.length} requests`} from ${agent} for ${tool}?`}
      about={confirm === undefined ? "Choose the requests to decide together. Only requests for one tool are shown." : `${confirm ? "The tool is executed once for each of them." : "The agent learns that each of them was denied."} This cannot be undone.`}
      actions={
        confirm === undefined ? (
          <>
            <Button onClick={onClose}>{outcomes.size > 0 ? "Done" : "Close"}</Button>
            <Button tone="danger" disabled={picked.length === 0 || offline} onClick={() => setConfirm(false)}>
              Deny{picked.length > 0 && ` ${picked.length} …`}
            </Button>
            <Button tone="primary" disabled={picked.length === 0 || offline} onClick={() => setConfirm(true)}>
              Approve{picked.length > 0 && ` ${picked.length} …`}
            </Button>
          </>
        ) : (
          <>
            <Button disabled={busy} onClick={() => setConfirm(undefined)}>
              Back
            </Button>
            <Button tone={confirm ? "primary" : "danger"} busy={busy} disabled={offline} onClick={() => void decide(confirm)}>
              {confirm ? "Approve" : "Deny"} {picked.length === 1 ? "it" : `all ${picked.length}`}
            </Button>
          </>
        )
      }
    >
      {offline && <p className="mb-3 text-sm text-warn">Server unreachable. Approvals are disabled until it's back.</p>}
      {confirm === undefined && open.length > 1 && (
        <div className="mb-2">
          <CheckField label={`All ${open.length}`} checked={picked.length === open.length} onChange={(e) => choose(new Set(e.target.checked ? open.map((p) => p.id) : []))} />
        </div>
      )}
      <ul className="flex flex-col divide-y divide-line rounded-lg border border-line">
        {(confirm === undefined ? group : picked).map((p) => (
          <li key={p.id} className="px-3 py-2">
            {confirm === undefined && !outcomes.has(p.id) ? (
              <CheckField
                label={<One pending={p} />}
                checked={chosen.has(p.id)}
                onChange={(e) => {
                  const now = new Set(chosen);
                  if (e.target.checked) now.add(p.id);
                  else now.delete(p.id);
                  choose(now);
                }}
              />
            ) : (
              <One pending={p} />
            )}
            {outcomes.has(p.id) && <p className="mt-1 text-sm text-soft">{outcomes.get(p.id)}</p>}
          </li>
        ))}
      </ul>
      {confirm !== undefined && (
        <div className="mt-4">
          <TextField label="Reason (optional)" hint="The agent reads it with each of them." value={reason} disabled={busy} onChange={(e) => setReason(e.target.value)} autoComplete="off" />
        </div>
      )}
    </Dialog>
  );
}

// The arguments of a request, and what it is for.
function One({ pending: p }: { pending: PendingAction }) {
  const space = useSpace(p.spaceId ?? "")?.space;
  const trigger = useRun(p.runId)?.trigger;
  return (
    <span className="flex min-w-0 flex-col text-sm break-words">
      <span>
        <Words text={gist(p)} />
      </span>
      <span className="text-xs text-soft">
        {p.spaceId === null ? "in no space" : `in ${space?.name ?? p.spaceId}`}, asked <Moment at={p.createdAt} />
        {trigger !== undefined && (
          <>
            {" "}
            after <Words text={triggerText(trigger)} />
          </>
        )}
      </span>
    </span>
  );
}

async function answer(session: string, p: PendingAction, approved: boolean, reason: string): Promise<Outcome> {
  try {
    const after = await api.POST("/v1/sessions/{session}/pending-actions/{pending}/answer", { params: { path: { session, pending: p.id } }, body: { approved, argsHash: p.argsHash, ...(reason === "" ? {} : { reason }) } });
    return after.status === "open" ? "Your vote is counted; more votes are needed." : approved ? "Approved." : "Denied.";
  } catch (thrown) {
    const problem = ShoalError.from(thrown);
    if (problem.code === "already_answered") return "Another person answered first.";
    return problem.code === "args_changed" ? "The arguments have changed. Read them again, then decide." : problem.message;
  }
}
