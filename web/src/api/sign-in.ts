// The half of this browser's sign-in that is not in the cookie. A cookie goes to every
// server on the host, whatever its port; this half stays with the console's own address,
// in IndexedDB, where tabs and workers read it, and goes with each call in a header.
import { Problem } from "@/client/problem";

/** The header that carries the half. */
export const signInHeader = "X-Shoal-Sign-In";

const store = "sign-in";
const key = "half";

/** How long the browser's storage may take, in ms: some browsers let it hang until they are restarted. */
const patience = 3000;
/** For how long storage that did not respond is not asked again, in ms: calls do not wait in turn. */
const silence = 10_000;

let opened: Promise<IDBDatabase> | undefined;
let last: string | null = null;
let hung = -Infinity; // when storage did not respond last

/** The browser's storage did not respond in time. */
class Hung extends Error {}

function within<T>(asked: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Hung()), patience);
  });
  return Promise.race([asked, late]).finally(() => clearTimeout(timer));
}

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

async function transact<T>(mode: IDBTransactionMode, what: (kept: IDBObjectStore) => IDBRequest<T>): Promise<T> {
  const db = await database();
  return new Promise((resolve, reject) => {
    const transaction = db.transaction(store, mode);
    const asked = what(transaction.objectStore(store));
    transaction.oncomplete = () => resolve(asked.result);
    transaction.onabort = () => reject(transaction.error ?? new Error("the browser has ended the transaction"));
  });
}

async function done<T>(mode: IDBTransactionMode, what: (kept: IDBObjectStore) => IDBRequest<T>): Promise<T> {
  if (performance.now() - hung < silence) throw new Hung();
  try {
    return await within(transact(mode, what));
  } catch (error) {
    if (error instanceof Hung) {
      hung = performance.now();
      opened = undefined; // opened anew, it may respond
    }
    throw error;
  }
}

const hangs = "The storage of this browser does not respond, so this page cannot prove that you are signed in. Close the other tabs of this console, or restart the browser, and reload.";

/**
 * The half that the browser keeps; null for none, also where the browser keeps nothing.
 * Where its storage does not respond, the half as it was read last; without one, throws a
 * Problem.
 */
export async function signInHalf(): Promise<string | null> {
  if (typeof indexedDB === "undefined") return null;
  try {
    const found: unknown = await done("readonly", (kept) => kept.get(key));
    last = typeof found === "string" ? found : null;
  } catch (error) {
    if (!(error instanceof Hung)) last = null;
    else if (last === null) throw new Problem(0, "storage_hangs", hangs);
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
  } catch (error) {
    if (error instanceof Hung) throw new Problem(0, "storage_hangs", hangs);
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
