// The followed streams of this tab. Updates come from the switchboard.
import { Store, type Topic, topicName } from "@shoal-dev/client/live";
import { link, type Send } from "@/stream/link";

const stores = new Map<string, { store: Store; users: number }>();

let linked: Send | undefined;
const send: Send = (request) => {
  linked ??= link(
    ({ topic, update }) => stores.get(topic)?.store.receive(update),
    () => [...stores.values()].map((s) => s.store.topic),
  );
  linked(request);
};

/** Returns the store of a topic. The topic is followed from the first `open` to the last `close`. */
export function open(topic: Topic): Store {
  const name = topicName(topic);
  const known = stores.get(name);
  if (known !== undefined) {
    known.users++;
    return known.store;
  }
  const store = new Store(topic, (events) => send({ kind: "apply", topic, events }));
  stores.set(name, { store, users: 1 });
  send({ kind: "join", topic });
  return store;
}

/** Releases a store that `open` returned. */
export function close(store: Store): void {
  const name = topicName(store.topic);
  const known = stores.get(name);
  if (known === undefined || known.store !== store || --known.users > 0) return;
  stores.delete(name);
  send({ kind: "leave", topic: store.topic });
}

/** Reconnects at once if the server was unreachable. */
export function retryNow(): void {
  send({ kind: "retry" });
}
