// The messages before a request: a decision needs them.
import type { Message, Part, PendingAction } from "@/client/types";
import { isShown } from "@/client/types";
import { useName } from "@/live/hooks";
import { PartView } from "@/parts/part-view";
import { ToolState } from "@/ui/state";
import { Moment } from "@/ui/time";
import { useContext } from "./queries";

/** The message with the request and the three before it. */
export function Context({ pending }: { pending: PendingAction }) {
  const { messages, loading } = useContext(pending, 3);
  if (pending.spaceId === null) return <p className="text-sm text-soft">No space: the run was started without one.</p>;
  if (messages.length === 0) return loading ? <p className="text-sm text-soft">Loading the messages before it …</p> : <p className="text-sm text-soft">The messages before it are not available here.</p>;
  return (
    <ol className="flex flex-col gap-3 border-l-2 border-line pl-3">
      {messages.filter((m) => m.parts.some((p) => p.id !== pending.partId)).map((m) => (
        <li key={m.id}>
          <Said message={m} without={pending.partId} />
        </li>
      ))}
    </ol>
  );
}

function Said({ message, without }: { message: Message; without: string | null }) {
  const name = useName(message.entityId);
  return (
    <article aria-label={`${name} said`}>
      <p className="flex flex-wrap items-baseline gap-2 text-sm">
        <span className="font-semibold">{name}</span>
        <Moment at={message.createdAt} />
      </p>
      {message.parts.filter((p) => p.id !== without).map((p) => (
        <Piece key={p.id} message={message} part={p} />
      ))}
    </article>
  );
}

// A tool call is one line here: the request is answered once, above.
function Piece({ message, part }: { message: Message; part: Part }) {
  if (part.type !== "tool_call") return <PartView message={message} part={part} />;
  if (!isShown(part)) return <p className="text-sm text-soft">Visible to another member only</p>;
  return (
    <p className="flex flex-wrap items-center gap-2 text-sm text-soft">
      <code>{part.toolName}</code>
      <ToolState status={part.status} />
    </p>
  );
}
