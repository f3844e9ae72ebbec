// What an outbox does with the messages of one session: it posts them, and shows them in the store.
import type { Outgoing, Post } from "./outbox.js";
import type { Draft } from "./send.js";
import type { Store } from "./store.js";
import type { Message } from "./types.js";

const longestPauseMs = 30_000;
// The stream is slower than the answer of the call only if it is being reconnected.
const shownWithinMs = 3000;

/**
 * The dependencies of an outbox. `send` posts a draft with the idempotency key of the message;
 * `stored` receives each message that the server has stored. The signal ends the outbox.
 */
export function posting(store: Store, send: (o: Outgoing, draft: Draft) => Promise<Message>, stored?: (m: Message) => void, signal?: AbortSignal): Post {
  return {
    send: (o) => send(o, draftOf(o)),
    stored: (m) => {
      stored?.(m);
      return shown(store, m);
    },
    pause: (n) => serverBack(store, Math.min(1000 * 2 ** n, longestPauseMs), signal),
    signal,
  };
}

function draftOf(o: Outgoing): Draft {
  const files = o.files.map((f) => ({ type: "file" as const, ...f }));
  const content = files.length === 0 ? { text: o.text } : { parts: o.text === "" ? files : [{ type: "text" as const, text: o.text }, ...files] };
  return { ...content, mentions: [...o.mentions], ...(o.replyTo === undefined ? {} : { replyTo: o.replyTo }) };
}

// The stream delivers it as well; whichever comes first shows it.
async function shown(store: Store, m: Message): Promise<void> {
  if (store.live.messages.has(m.id)) return;
  await new Promise<void>((resolve) => {
    const stop = store.subscribe(`message:${m.id}`, done);
    const late = setTimeout(done, shownWithinMs);
    function done(): void {
      clearTimeout(late);
      stop();
      resolve();
    }
    store.share([{ type: "message.created", message: m, spaceId: m.spaceId, runId: null, at: m.createdAt }]);
  });
}

// Ends after `most` ms, or when the connection to the server is live again.
function serverBack(store: Store, most: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    let away = store.connection.state !== "live";
    const stop = store.subscribe("connection", () => {
      const live = store.connection.state === "live";
      if (live && away) done();
      away = !live;
    });
    const timer = setTimeout(done, most);
    function done(): void {
      clearTimeout(timer);
      stop();
      signal?.removeEventListener("abort", done);
      resolve();
    }
    signal?.addEventListener("abort", done);
  });
}
