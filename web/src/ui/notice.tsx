// Short notices at the edge of the page, read out politely. They report what has happened
// and disappear by themselves. Nothing that needs an answer is shown here.
import { useSyncExternalStore } from "react";
import { ShoalError } from "@shoal-dev/client";
import { classes } from "./classes";

interface Notice {
  readonly id: number;
  readonly text: string;
  readonly bad: boolean;
}

let notices: readonly Notice[] = [];
let last = 0;
const listeners = new Set<() => void>();

function set(next: readonly Notice[]): void {
  notices = next;
  for (const fn of listeners) fn();
}

/** Shows a notice for six seconds. */
export function notify(text: string, bad = false): void {
  const id = ++last;
  set([...notices.slice(-3), { id, text, bad }]);
  setTimeout(() => set(notices.filter((n) => n.id !== id)), 6000);
}

/** Shows an error in the server's words. */
export const notifyError = (error: unknown): void => notify(ShoalError.from(error).message, true);

function subscribe(fn: () => void): () => void {
  listeners.add(fn);
  return () => void listeners.delete(fn);
}

export function Notices() {
  const shown = useSyncExternalStore(subscribe, () => notices);
  return (
    <div aria-live="polite" role="status" className="pointer-events-none fixed inset-x-0 bottom-28 z-50 flex flex-col items-center gap-2 px-4">
      {shown.map((n) => (
        <p key={n.id} className={classes("rounded-lg border px-4 py-2 shadow-lg", n.bad ? "border-bad bg-bad-soft text-bad" : "border-line bg-raised")}>
          {n.text}
        </p>
      ))}
    </div>
  );
}
