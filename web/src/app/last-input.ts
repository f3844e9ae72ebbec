// What was used last, keyboard or pointer: a page takes the focus into its text field only
// where that does not interrupt somebody who goes by keys.
let byKey = false;

/** Starts to listen. Call it once. */
export function listenToInput(): void {
  window.addEventListener("keydown", () => void (byKey = true), { capture: true });
  window.addEventListener("pointerdown", () => void (byKey = false), { capture: true });
}

/** Reports whether a key was pressed after the last click. */
export const wentByKey = (): boolean => byKey;
