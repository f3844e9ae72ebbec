// A result that is filled in. Ctrl Enter sends it; Enter alone does not.
import { type ReactNode, useState } from "react";
import { Button } from "@/ui/button";
import type { Answering } from "./answering";
import { resultBody } from "./body";
import { draftOf, written } from "./draft";
import { shownAt } from "./faults";
import { Fields } from "./form";
import type { Ask } from "./schema";

interface Props {
  readonly asked: Ask;
  readonly answering: Answering;
  readonly disabled: boolean;
  /** The buttons that lead to other ways to answer. */
  readonly others: ReactNode;
}

/** The form, and the button that sends it. */
export function FormAnswer({ asked, answering, disabled, others }: Props) {
  const [draft, setDraft] = useState(() => draftOf(asked));
  const send = () => {
    const out = written(asked, draft);
    if ("faults" in out) answering.setFaults(out.faults);
    else void answering.send(resultBody(out.json));
  };
  return (
    <div
      role="group"
      aria-label="Answer"
      className="flex max-w-xl flex-col gap-3"
      onKeyDown={(event) => {
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !disabled) send();
      }}
    >
      <Fields ask={asked} draft={draft} path="" required faults={shownAt(asked, draft, answering.faults)} disabled={disabled} onChange={setDraft} />
      <div className="flex flex-wrap items-center gap-2">
        <Button tone="primary" disabled={disabled} busy={answering.busy} onClick={send}>
          Answer
        </Button>
        {others}
      </div>
    </div>
  );
}
