// The conversation that led to a request: a decision needs it.
import { isShown, type Message, type MessageTrigger, type Part, type PendingAction } from "@shoal-dev/client";
import { useName } from "@/live/hooks";
import { PartView } from "@/parts/part-view";
import { Outcome } from "@/parts/tool/outcome";
import { titleOf } from "@/parts/tool/reading";
import { Words } from "@/parts/words/words";
import { SpaceLink } from "@/runs/trigger";
import { Moment } from "@/ui/time";
import { useConversation } from "./queries";

/** The last messages where the agent was asked; nothing if there are none. */
export function Context({ pending, origin }: { pending: PendingAction; origin: MessageTrigger | undefined }) {
  const { spaceId, messages, loading } = useConversation(pending, origin, 3);
  const shown = messages.filter((m) => m.parts.some((p) => p.id !== pending.partId));
  if (shown.length === 0 && !loading) return null;
  return (
    <section aria-label="Last messages" className="flex flex-col gap-2">
      <h3 className="text-sm font-semibold text-soft">
        Last messages in <SpaceLink space={spaceId} name={origin?.spaceName} />
      </h3>
      {shown.length === 0 ? (
        <p className="text-sm text-soft">Loading the messages …</p>
      ) : (
        <ol className="flex flex-col gap-3 border-l-2 border-line pl-3">
          {shown.map((m) => (
            <li key={m.id}>
              <Said message={m} without={pending.partId} />
            </li>
          ))}
        </ol>
      )}
    </section>
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
    <p className="mt-1 flex flex-wrap items-center gap-x-2 gap-y-1 text-sm text-soft">
      <Words text={titleOf(part).text} />
      {part.toolName !== titleOf(part).text && <code className="text-xs">{part.toolName}</code>}
      <Outcome part={part} state={part.status} />
    </p>
  );
}
