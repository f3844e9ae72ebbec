// The outgoing messages of a participant in the browser's database, which all tabs share
// and which outlives them. Tabs report changes to each other, and a lock lets one of them
// send. Browsers give no locks to pages of plain HTTP on another machine: there two tabs may
// send the same message, which its Idempotency-Key makes one.
import type { Outgoing, OutboxStorage } from "@shoal-dev/client/live";

const store = "outbox";

/** The storage of the outbox with this name. */
export function browserStorage(name: string): OutboxStorage {
  const channel = typeof BroadcastChannel === "undefined" ? undefined : new BroadcastChannel(name);
  const changed = () => channel?.postMessage(null);
  return {
    async load() {
      const all = (await transact("readonly", (s) => s.index("box").getAll(name))) as readonly Stored[];
      return all.map((s) => s.outgoing).sort((a, b) => a.at - b.at);
    },
    async put(outgoing) {
      await transact("readwrite", (s) => s.put({ key: outgoing.key, box: name, outgoing } satisfies Stored));
      changed();
    },
    async remove(key) {
      await transact("readwrite", (s) => s.delete(key));
      changed();
    },
    onChange(fn) {
      channel?.addEventListener("message", fn);
    },
    close: () => channel?.close(),
    async exclusive(space, work) {
      if ("locks" in navigator) await navigator.locks.request(`${name}.${space}`, work);
      else await work();
    },
  };
}

interface Stored {
  readonly key: string;
  readonly box: string;
  readonly outgoing: Outgoing;
}

let opened: Promise<IDBDatabase> | undefined;

function database(): Promise<IDBDatabase> {
  opened ??= new Promise((resolve, reject) => {
    const asked = indexedDB.open("shoal-outbox", 1);
    asked.onupgradeneeded = () => asked.result.createObjectStore(store, { keyPath: "key" }).createIndex("box", "box");
    asked.onsuccess = () => {
      asked.result.onclose = () => (opened = undefined);
      resolve(asked.result);
    };
    asked.onerror = () => reject(asked.error ?? new Error("the database cannot be opened"));
  });
  opened.catch(() => (opened = undefined));
  return opened;
}

async function transact<T>(mode: IDBTransactionMode, what: (s: IDBObjectStore) => IDBRequest<T>): Promise<T> {
  const db = await database();
  return new Promise((resolve, reject) => {
    const transaction = db.transaction(store, mode, { durability: "strict" });
    const asked = what(transaction.objectStore(store));
    transaction.oncomplete = () => resolve(asked.result);
    transaction.onabort = () => reject(transaction.error ?? new Error("the browser aborted the transaction"));
  });
}
