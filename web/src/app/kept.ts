// Where the browser keeps what it remembers. A browser may refuse: in a private
// window, where cookies are blocked, when its disk is full. Then nothing is kept
// for the next time, and the page works all the same.

/** What of a Storage is used; none of it throws. */
export type Kept = Pick<Storage, "getItem" | "setItem" | "removeItem">;

function kept(storage: () => Storage): Kept {
  const tried = <T>(use: (s: Storage) => T, otherwise: T): T => {
    try {
      return use(storage());
    } catch {
      return otherwise;
    }
  };
  return {
    getItem: (key) => tried((s) => s.getItem(key), null),
    setItem: (key, value) => tried((s) => s.setItem(key, value), undefined),
    removeItem: (key) => tried((s) => s.removeItem(key), undefined),
  };
}

/** What all tabs of the browser share, and the next ones find. */
export const inBrowser = kept(() => localStorage);
/** What one tab keeps as long as it is there, over a reload. */
export const inTab = kept(() => sessionStorage);
