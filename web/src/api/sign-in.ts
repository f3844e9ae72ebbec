// The half of this browser's sign-in that is not in the cookie. A browser sends cookies to
// every server on the host, whatever its port. This half belongs to the console's own
// origin: it is stored in IndexedDB, where tabs and workers read it, and each call sends it
// in a header.
import { ShoalError } from "@shoal-dev/client";

/** The header with the half. */
export const signInHeader = "X-Shoal-Sign-In";

const store = "sign-in";
const key = "half";

/** How long to wait for the browser's storage, in ms. Some browsers let it hang until they are restarted. */
const patience = 3000;
/** How long storage that did not respond is not tried again, in ms, so that calls do not wait one after the other. */
const silence = 10_000;

let opened: Promise<IDBDatabase> | undefined;
let last: string | null = null;
let hung = -Infinity; // when storage last did not respond

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
    asked.onerror = () => reject(asked.error ?? new Error("the database cannot be opened"));
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
    transaction.onabort = () => reject(transaction.error ?? new Error("the browser aborted the transaction"));
  });
}

async function done<T>(mode: IDBTransactionMode, what: (kept: IDBObjectStore) => IDBRequest<T>): Promise<T> {
  if (performance.now() - hung < silence) throw new Hung();
  try {
    return await within(transact(mode, what));
  } catch (error) {
    if (error instanceof Hung) {
      hung = performance.now();
      opened = undefined; // a reopened database may respond
    }
    throw error;
  }
}

const hangs = "This browser's storage does not respond, and your sign-in is in it. Close the other tabs of this console, or restart the browser, then reload.";

/**
 * The stored half; null if there is none or the browser stores nothing. If the storage does
 * not respond, returns the half that was read last; without one, throws a ShoalError.
 */
export async function signInHalf(): Promise<string | null> {
  if (typeof indexedDB === "undefined") return null;
  try {
    const found: unknown = await done("readonly", (kept) => kept.get(key));
    last = typeof found === "string" ? found : null;
  } catch (error) {
    if (!(error instanceof Hung)) last = null;
    else if (last === null) throw new ShoalError(0, "storage_hangs", hangs);
  }
  return last;
}

/** The half that was read last, for pages that cannot wait for the storage. */
export function lastHalf(): string | null {
  return last;
}

/** The headers that a call sends besides the cookie. */
export async function signInHeaders(): Promise<Record<string, string>> {
  return headersOf(await signInHalf());
}

/** Like signInHeaders, for a half that is already known. */
export const headersOf = (half: string | null): Record<string, string> => (half === null ? {} : { [signInHeader]: half });

/** Stores the half that a sign-in returned. Throws a ShoalError if the browser stores nothing. */
export async function keepHalf(half: string): Promise<void> {
  try {
    await done("readwrite", (kept) => kept.put(half, key));
    last = half;
  } catch (error) {
    if (error instanceof Hung) throw new ShoalError(0, "storage_hangs", hangs);
    throw new ShoalError(0, "not_kept", "This browser does not allow the page to store its half of the sign-in. Try a window that is not private.");
  }
}

/** Deletes the half. Does nothing if there is none. */
export async function dropHalf(): Promise<void> {
  last = null;
  try {
    await done("readwrite", (kept) => kept.delete(key));
  } catch {
    // Without the cookie it is of no use.
  }
}
