// The messages of a space as they are written.
import { SessionState } from "./session-state.js";
import type { Stream } from "./stream.js";
import type { Message, ServerEvent } from "./types.js";

/** The messages that a stream of one space changes, each as it is after a batch of events. */
export async function* watch(stream: Stream<ServerEvent>): AsyncGenerator<Message> {
  const state = new SessionState(null);
  for await (const events of stream.batches()) {
    const changed = new Set<string>();
    for (const event of events) for (const key of state.apply(event)) if (key.startsWith("message:")) changed.add(key.slice("message:".length));
    if (state.gap) {
      state.gap = false;
      stream.restart();
    }
    for (const id of changed) {
      const message = state.messages.get(id);
      if (message !== undefined) yield message;
    }
  }
}

/** The text of a message: its text parts, joined by empty lines. */
export function textOf(message: Pick<Message, "parts">): string {
  return message.parts.flatMap((p) => (p.type === "text" && "text" in p ? [p.text] : [])).join("\n\n");
}
