// Parts of messages, and what waits for people, in the session that the page is in.
import { memo } from "react";
import { isShown, type Message, type Part, type PendingAction } from "@shoal-dev/client";
import { useLiveValue } from "@/live/hooks";
import { ErrorBoundary } from "./error-boundary";
import { LiveTool } from "./live-tool";
import { wordsOf } from "./server-words";
import { StillPart } from "./still-part";

/** One part of a message, with what answers it if it waits for somebody. */
export const PartView = memo(function PartView({ message, part }: { message: Message; part: Part }) {
  const over = message.status !== "streaming";
  return <ErrorBoundary of={part}>{part.type === "tool_call" && isShown(part) ? <LiveTool part={part} over={over} messageId={message.id} /> : <StillPart part={readable(message.entityId, part)} over={over} />}</ErrorBoundary>;
});

const readable = (by: string, part: Part): Part => (part.type === "text" && isShown(part) ? { ...part, text: wordsOf(by, part.text) } : part);

/** What waits, as its part shows it, with what answers it. */
export function PendingView({ pending }: { pending: PendingAction }) {
  const part = useLiveValue(pending.messageId === null ? "pending" : `message:${pending.messageId}`, (s) => s.live.messages.get(pending.messageId ?? "")?.parts.find((p) => p.id === pending.partId));
  const known = part !== undefined && part.type === "tool_call" && isShown(part) ? part : undefined;
  return (
    <ErrorBoundary of={pending}>
      <LiveTool
        whole
        pending={pending}
        messageId={pending.messageId}
        over={false}
        part={
          known ?? {
            id: pending.partId ?? pending.id, type: "tool_call", toolName: pending.toolName, toolCallId: pending.toolCallId, args: pending.args, result: null, error: null,
            status: pending.status === "open" ? "requires_action" : pending.status === "answered" ? "done" : "canceled", display: null, answeredBy: pending.answeredBy, editedArgs: pending.editedArgs, decision: pending.decision, targetEntityId: null,
          }
        }
      />
    </ErrorBoundary>
  );
}
