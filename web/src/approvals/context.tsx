// What was said before somebody was asked: without it nobody can decide.
import type { Message, Part, PendingAction } from "@/client/types";
import { isShown } from "@/client/types";
import { useName } from "@/live/hooks";
import { PartView } from "@/parts/part-view";
import { ToolState } from "@/ui/state";
import { Moment } from "@/ui/time";
import { useContext } from "./queries";

/** Three messages before the one that asks, and what that one says itself. */
export function Context({ pending }: { pending: PendingAction }) {
  const { messages, loading } = useContext(pending, 3);
  if (pending.spaceId === null) return <p className="text-sm text-soft">No space shows this: the run was started without one.</p>;
  if (messages.length === 0) return loading ? <p className="text-sm text-soft">Looking for what was said before…</p> : <p className="text-sm text-soft">What was said before is not to be seen from here.</p>;
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

// A tool's part is one line here: what is answered on this page is answered once, above.
function Piece({ message, part }: { message: Message; part: Part }) {
  if (part.type !== "tool_call") return <PartView message={message} part={part} />;
  if (!isShown(part)) return <p className="text-sm text-soft">Something that is shown to another member alone</p>;
  return (
    <p className="flex flex-wrap items-center gap-2 text-sm text-soft">
      <code>{part.toolName}</code>
      <ToolState status={part.status} />
    </p>
  );
}
