// Announces events of a space to screen readers: once for each whole message, never
// for each word, and at once when something needs the reader.
import { useEffect, useState } from "react";
import type { LiveEvent, Message } from "@shoal-dev/client";
import { useConsole } from "@/app/console";
import { useLive } from "@/live/hooks";
import { subject } from "@/approvals/subject";
import { wordsOf } from "@/parts/server-words";

export function Announcer({ space }: { space: string }) {
  const { actor } = useConsole();
  const store = useLive();
  const [polite, setPolite] = useState("");
  const [urgent, setUrgent] = useState("");
  useEffect(() => {
    const name = (id: string) => (id === "system" ? "Shoal" : (store.live.entities.get(id)?.name ?? id));
    return store.tap((event) => {
      const said = announcement(event, space, actor, name);
      if (said !== undefined) (said.urgent ? setUrgent : setPolite)(said.text);
    });
  }, [store, space, actor]);
  return (
    <>
      <div role="status" aria-live="polite" className="sr-only">
        {polite}
      </div>
      <div role="alert" aria-live="assertive" className="sr-only">
        {urgent}
      </div>
    </>
  );
}

/** What an event of a space is announced as; undefined for most. */
export function announcement(event: LiveEvent, space: string, reader: string | null, name: (id: string) => string): { text: string; urgent: boolean } | undefined {
  if (event.type === "message.completed" || event.type === "message.created") {
    const m = event.message;
    if (m.spaceId !== space || m.entityId === reader || m.status === "streaming") return undefined;
    return { text: `${name(m.entityId)}: ${contents(m)}${m.mentions.includes(reader ?? "") ? ", mentions you" : ""}`, urgent: false };
  }
  if (event.type === "pending.opened" && event.pendingAction.spaceId === space) {
    return { text: `${name(event.pendingAction.agentId)} needs your answer: ${subject(event.pendingAction)}`, urgent: true };
  }
  return undefined;
}

function contents(m: Message): string {
  const only = m.parts.length === 1 ? m.parts[0] : undefined;
  if (only?.type === "text" && only.text.length <= 200) return wordsOf(m.entityId, only.text);
  const end = m.status === "completed" ? "" : `, ${m.status}`;
  return `message with ${m.parts.length} ${m.parts.length === 1 ? "part" : "parts"}${end}`;
}
