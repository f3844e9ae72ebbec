// The rows between the messages of a timeline. The browser keeps a reader's place by
// messages alone: these rows come and go, or stay at the edge, while pages come.
import { type RefObject, useRef, useState } from "react";
import { Button } from "@/ui/button";
import { timeOfDay } from "@/ui/time";
import { useNear } from "./use-visible";

const dayName = new Intl.DateTimeFormat(undefined, { weekday: "long", day: "numeric", month: "long" });
const dayAndYear = new Intl.DateTimeFormat(undefined, { weekday: "long", day: "numeric", month: "long", year: "numeric" });

/** The day that begins here. */
export function DayRow({ at }: { at: string }) {
  const moment = new Date(at);
  const today = new Date();
  const yesterday = new Date(today.getFullYear(), today.getMonth(), today.getDate() - 1);
  const name =
    moment.toDateString() === today.toDateString() ? "Today"
    : moment.toDateString() === yesterday.toDateString() ? "Yesterday"
    : (moment.getFullYear() === today.getFullYear() ? dayName : dayAndYear).format(moment);
  return <Rule className="text-soft">{name}</Rule>;
}

/** The line over what was unread when the reader came. */
export function UnreadRow({ at }: { at: string }) {
  const moment = new Date(at);
  const today = moment.toDateString() === new Date().toDateString();
  return (
    <Rule className="text-bad" id="unread">
      new since {today ? timeOfDay(moment) : `${dayName.format(moment)}, ${timeOfDay(moment)}`}
    </Rule>
  );
}

function Rule({ className, id, children }: { className: string; id?: string; children: React.ReactNode }) {
  return (
    <div role="separator" data-row={id} className={`my-2 flex items-center gap-3 px-3 text-xs font-medium [overflow-anchor:none] ${className}`}>
      <span aria-hidden className="h-px flex-1 bg-current opacity-30" />
      <span>{children}</span>
      <span aria-hidden className="h-px flex-1 bg-current opacity-30" />
    </div>
  );
}

/** Loads more when it comes near the screen; says so, and what went wrong. */
export function MoreRow({ scroller, load, again, what }: { scroller: RefObject<HTMLElement | null>; load: (above: boolean) => Promise<void> | undefined; again: unknown; what: string }) {
  const row = useRef<HTMLDivElement>(null);
  const busy = useRef(false);
  const [failed, setFailed] = useState(false);
  const run = async (above: boolean) => {
    if (busy.current) return;
    busy.current = true;
    setFailed(false);
    try {
      await load(above);
    } catch {
      setFailed(true);
    } finally {
      busy.current = false;
    }
  };
  useNear(row, scroller, (above) => void run(above), again);
  return (
    <div ref={row} className="flex min-h-10 items-center justify-center gap-2 py-2 text-sm text-soft [overflow-anchor:none]">
      {failed ? (
        <>
          <span>{what} could not be loaded.</span>
          <Button small onClick={() => void run(true)}>
            Try again
          </Button>
        </>
      ) : (
        <span>Loading {what.toLowerCase()} …</span>
      )}
    </div>
  );
}
