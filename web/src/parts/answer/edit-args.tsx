// The arguments of a call, edited before it is approved.
import { useState } from "react";
import type { PendingAction } from "@shoal-dev/client";
import { Button } from "@/ui/button";
import { AreaField } from "@/ui/field";
import type { Answering } from "./answering";
import { draftOf, written } from "./draft";
import { shownAt } from "./faults";
import { Fields } from "./form";
import { jsonFault } from "./json-fault";
import { type Ask, askOf, isExact } from "./schema";
import { canonical } from "./votes";

interface Props {
  readonly pending: PendingAction;
  readonly answering: Answering;
  readonly disabled: boolean;
  /** Approves; `args` is left out where nothing was changed. */
  readonly approve: (args: string | undefined) => void;
  readonly back: () => void;
}

/** A form of the tool's schema where it can hold the arguments whole, else their JSON. */
export function EditArgs({ pending, answering, disabled, approve, back }: Props) {
  const [ask] = useState(() => formFor(pending));
  const [draft, setDraft] = useState(() => (ask === undefined ? undefined : draftOf(ask, pending.args)));
  const [text, setText] = useState(() => (ask === undefined ? pretty(pending.args) : undefined));
  const send = () => {
    if (text !== undefined) {
      const fault = jsonFault(text);
      if (fault !== undefined) answering.setFaults(new Map([["", fault]]));
      else approve(changed(pending.args, text.trim()));
      return;
    }
    if (ask === undefined || draft === undefined) return;
    const out = written(ask, draft);
    if ("faults" in out) answering.setFaults(out.faults);
    else approve(changed(pending.args, out.json));
  };
  const toJson = () => {
    answering.setFaults(new Map());
    const out = ask === undefined || draft === undefined ? undefined : written(ask, draft);
    setText(pretty(out !== undefined && "json" in out ? (JSON.parse(out.json) as unknown) : pending.args));
  };
  const faults = [...answering.faults].map(([path, fault]) => (path === "" ? fault : `${path}: ${fault}`)).join("; ");
  return (
    <div role="group" aria-label="Edited arguments" className="flex max-w-xl flex-col gap-3">
      {text === undefined && ask !== undefined && draft !== undefined ? (
        <Fields ask={ask} draft={draft} path="" required faults={shownAt(ask, draft, answering.faults)} disabled={disabled} onChange={setDraft} />
      ) : (
        <AreaField label="Arguments as JSON" className="font-mono" spellCheck={false} rows={6} value={text ?? ""} disabled={disabled} error={faults === "" ? undefined : faults} onChange={(e) => setText(e.target.value)} />
      )}
      {!isExact(pending.args) && <p className="text-sm text-warn">A number in here has more digits than a browser can show. Type it again before you approve.</p>}
      <div className="flex flex-wrap items-center gap-2">
        <Button tone="primary" disabled={disabled} busy={answering.busy} onClick={send}>
          Approve with changes
        </Button>
        <Button disabled={disabled} onClick={back}>
          Discard changes
        </Button>
        {text === undefined && (
          <Button small tone="quiet" className="text-soft" disabled={disabled} onClick={toJson}>
            Edit as JSON
          </Button>
        )}
      </div>
    </div>
  );
}

const pretty = (value: unknown): string => JSON.stringify(value, null, 2);

// A form that would itself drop or change an argument is not offered.
function formFor({ args, argsSchema }: PendingAction): Ask | undefined {
  const ask = askOf(argsSchema);
  if (ask.kind !== "object" || !isExact(args)) return undefined;
  const out = written(ask, draftOf(ask, args));
  return "json" in out && canonical(JSON.parse(out.json)) === canonical(args) ? ask : undefined;
}

// What is the same is approved as it is: others vote for the same arguments.
function changed(args: unknown, json: string): string | undefined {
  const now: unknown = JSON.parse(json);
  return isExact(args) && isExact(now) && canonical(now) === canonical(args) ? undefined : json;
}
