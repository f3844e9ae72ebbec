// A permission that goes back to the agent with a question.
import { useState } from "react";
import { Button } from "@/ui/button";
import { AreaField } from "@/ui/field";
import type { Answering } from "./answering";
import { askBody } from "./body";

/** The question, and the button that sends the call back. */
export function AskBack({ answering, disabled, agent, back }: { answering: Answering; disabled: boolean; agent: string; back: () => void }) {
  const [text, setText] = useState("");
  return (
    <div className="flex max-w-xl flex-col gap-3">
      <AreaField label="Your question" hint={`The call is not executed. ${agent} receives your question and can call the tool again.`} rows={2} dir="auto" value={text} disabled={disabled} error={answering.faults.get("ask")} onChange={(e) => setText(e.target.value)} />
      <div className="flex flex-wrap gap-2">
        <Button tone="primary" disabled={disabled || text.trim() === ""} busy={answering.busy} onClick={() => void answering.send(askBody(text.trim()))}>
          Send back
        </Button>
        <Button disabled={disabled} onClick={back}>
          Cancel
        </Button>
      </div>
    </div>
  );
}
