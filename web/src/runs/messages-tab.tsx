// The tab Messages: what the run wrote, space by space as its readers see it.
import type { Message } from "@shoal-dev/client";
import { PartView } from "@/parts/part-view";
import { Empty } from "@/ui/placeholder";
import { MessageState } from "@/ui/state";
import { Moment } from "@/ui/time";
import { SpaceLink } from "./trigger";

export function MessagesTab({ messages, over }: { messages: readonly Message[]; over: boolean }) {
  if (messages.length === 0)
    return <Empty title={over ? "No messages" : "No messages yet"}>The model's plain text is private. A run posts to a space with sendSpaceMessage, or with a display tool that names a space.</Empty>;
  return (
    <ol className="flex max-w-read flex-col gap-4 p-5">
      {messages.map((m) => (
        <li key={m.id}>
          <article aria-label={`Message in ${m.spaceId}`} className="rounded-lg border border-line bg-surface">
            <header className="flex flex-wrap items-center gap-2 border-b border-line px-3 py-2 text-sm">
              <h3 className="font-semibold">
                <SpaceLink space={m.spaceId} seq={m.seq} />
              </h3>
              <Moment at={m.createdAt} />
              {m.status !== "completed" && <MessageState status={m.status} />}
            </header>
            <div className="flex flex-col gap-2 p-3">
              {m.parts.length === 0 && <p className="text-soft">It ended before it said anything.</p>}
              {m.parts.map((p) => (
                <PartView key={p.id} message={m} part={p} />
              ))}
            </div>
          </article>
        </li>
      ))}
    </ol>
  );
}
