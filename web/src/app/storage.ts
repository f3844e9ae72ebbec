// Storage of the browser. A browser may refuse it: in a private window, when cookies are
// blocked, when the disk is full. Then nothing is stored, and the page still works.

/** The methods of Storage that are used. None of them throws. */
export type BrowserStorage = Pick<Storage, "getItem" | "setItem" | "removeItem">;

function tried<T>(use: (s: Storage) => T, otherwise: T): T {
  try {
    return use(localStorage);
  } catch {
    return otherwise;
  }
}

/** Storage that all tabs of the browser share, and that later visits find. */
export const inBrowser: BrowserStorage = {
  getItem: (key) => tried((s) => s.getItem(key), null),
  setItem: (key, value) => tried((s) => s.setItem(key, value), undefined),
  removeItem: (key) => tried((s) => s.removeItem(key), undefined),
};
