// Questions: one of the options, or words of one's own.
import { useState } from "react";
import type { PendingAction } from "@shoal-dev/client";
import { Button } from "@/ui/button";
import { AreaField } from "@/ui/field";
import { Words } from "../words/words";
import type { Answering } from "./answering";
import { questionBody } from "./body";

const mostOptions = 50;

/** The question's options as buttons, and a field for any other answer. */
export function QuestionAnswer({ pending, answering, disabled }: { pending: PendingAction; answering: Answering; disabled: boolean }) {
  const options = (pending.options ?? []).slice(0, mostOptions);
  const [own, setOwn] = useState(options.length === 0);
  const [text, setText] = useState("");
  const off = disabled || answering.busy;
  return (
    <div className="flex flex-col gap-3">
      {options.length > 0 && (
        <div role="group" aria-label="Answers" className="flex flex-wrap gap-2">
          {options.map((o, i) => (
            <Button key={i} disabled={off} className="h-auto max-w-full py-1.5 text-left whitespace-normal [overflow-wrap:anywhere]" onClick={() => void answering.send(questionBody(o))}>
              <span dir="auto">
                <Words text={o} />
              </span>
            </Button>
          ))}
          {!own && (
            <Button tone="quiet" disabled={off} onClick={() => setOwn(true)}>
              Something else…
            </Button>
          )}
        </div>
      )}
      {own && (
        <div className="flex flex-col gap-2">
          <AreaField label={options.length > 0 ? "Your own answer" : "Your answer"} dir="auto" rows={2} value={text} disabled={off} error={answering.faults.get("answer")} onChange={(e) => setText(e.target.value)} />
          <Button tone="primary" className="w-fit" disabled={off || text.trim() === ""} busy={answering.busy} onClick={() => void answering.send(questionBody(text.trim()))}>
            Answer
          </Button>
        </div>
      )}
    </div>
  );
}
