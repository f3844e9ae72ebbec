// What came of a tool call, in a word.
import { Check, CircleHelp, Minus } from "lucide-react";
import type { ToolPart } from "@shoal-dev/client";
import { Badge } from "@/ui/badge";
import { ToolState } from "@/ui/state";
import { Words } from "../words/words";
import { askedBack, verdictOf } from "./reading";

/** The yes or no of a call that was answered with one; else its state. */
export function Outcome({ part, state }: { part: ToolPart; state: ToolPart["status"] }) {
  if (askedBack(part) !== undefined) {
    return (
      <Badge tone="warn" icon={<CircleHelp aria-hidden className="size-3" />}>
        sent back
      </Badge>
    );
  }
  const verdict = verdictOf(part);
  if (verdict === undefined) return <ToolState status={state} />;
  const Icon = verdict.yes ? Check : Minus;
  return (
    <Badge tone={verdict.yes ? "ok" : "neutral"} icon={<Icon aria-hidden className="size-3" />}>
      <Words text={verdict.word} />
    </Badge>
  );
}
