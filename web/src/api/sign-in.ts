// The half of this browser's sign-in that is not in the cookie. A cookie goes to every
// server on the host, whatever its port; this half stays with the console's own address,
// in IndexedDB, where tabs and workers read it, and goes with each call in a header.
import { Problem } from "./problem";

/** The header that carries the half. */
export const signInHeader = "X-Shoal-Sign-In";

const store = "sign-in";
const key = "half";

let opened: Promise<IDBDatabase> | undefined;
let last: string | null = null;

function database(): Promise<IDBDatabase> {
  opened ??= new Promise((resolve, reject) => {
    const asked = indexedDB.open("shoal", 1);
    asked.onupgradeneeded = () => asked.result.createObjectStore(store);
    asked.onsuccess = () => {
      asked.result.onclose = () => (opened = undefined);
      asked.result.onversionchange = () => {
        asked.result.close();
        opened = undefined;
      };
      resolve(asked.result);
    };
    asked.onerror = () => reject(asked.error ?? new Error("the database does not open"));
  });
  opened.catch(() => (opened = undefined));
  return opened;
}

async function done<T>(mode: IDBTransactionMode, what: (kept: IDBObjectStore) => IDBRequest<T>): Promise<T> {
  const db = await database();
  return new Promise((resolve, reject) => {
    const transaction = db.transaction(store, mode);
    const asked = what(transaction.objectStore(store));
    transaction.oncomplete = () => resolve(asked.result);
    transaction.onabort = () => reject(transaction.error ?? new Error("the browser has ended the transaction"));
  });
}

/** The half that the browser keeps; null for none, also where the browser keeps nothing. */
export async function signInHalf(): Promise<string | null> {
  if (typeof indexedDB === "undefined") return null;
  try {
    const found: unknown = await done("readonly", (kept) => kept.get(key));
    last = typeof found === "string" ? found : null;
  } catch {
    last = null;
  }
  return last;
}

/** The half as it was read last, for a page that has no time to ask. */
export function lastHalf(): string | null {
  return last;
}

/** What a call carries besides the cookie. */
export async function signInHeaders(): Promise<Record<string, string>> {
  return headersOf(await signInHalf());
}

/** As signInHeaders, of the half as it was read last. */
export const headersOf = (half: string | null): Record<string, string> => (half === null ? {} : { [signInHeader]: half });

/** Keeps what a sign-in has answered. Throws a Problem where the browser keeps nothing. */
export async function keepHalf(half: string): Promise<void> {
  try {
    await done("readwrite", (kept) => kept.put(half, key));
    last = half;
  } catch {
    throw new Problem(0, "not_kept", "This browser does not let the page keep its half of the sign-in. In a window that is not private it may.");
  }
}

/** Forgets the half. It is no failure if there is none. */
export async function dropHalf(): Promise<void> {
  last = null;
  try {
    await done("readwrite", (kept) => kept.delete(key));
  } catch {
    // Without the cookie it is of no use.
  }
}
