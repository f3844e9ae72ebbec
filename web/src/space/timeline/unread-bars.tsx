// At the edges of a timeline: how much is unread above and below the screen, and the way
// there.
import { ArrowDown, ArrowUp, CheckCheck } from "lucide-react";
import type { RefObject } from "react";
import type { Message, Space } from "@shoal-dev/client";
import { useConsole } from "@/app/console";
import { useShortcut } from "@/app/shortcuts";
import { Button } from "@/ui/button";
import { useMarkAllRead, useReading } from "./use-reading";
import { countBetween } from "./unread";

interface Props {
  readonly space: Space;
  readonly messages: readonly Message[];
  readonly scroller: RefObject<HTMLElement | null>;
  /** The newest message is on the screen. */
  readonly atEnd: boolean;
  readonly toEnd: () => void;
  readonly toUnread: () => void;
}

export function UnreadBars({ space, messages, scroller, atEnd, toEnd, toUnread }: Props) {
  const { actor } = useConsole();
  const onScreen = useReading(space, scroller);
  const markAllRead = useMarkAllRead(space);
  const first = space.firstUnreadSeq;
  const known = onScreen !== undefined && onScreen.top > 0 && first > 0;
  const most = (from: number, to: number) => (known ? Math.min(space.unreadCount, countBetween(messages, Math.max(first, from), to, actor)) : 0);
  const above = most(first, (onScreen?.top ?? 0) - 1);
  const below = most((onScreen?.bottom ?? 0) + 1, space.lastSeq);
  const all = () => {
    markAllRead();
    toEnd();
  };
  return (
    <>
      {space.unreadCount > 0 && <MarkAllRead run={all} />}
      {above > 0 && (
        <div className="pointer-events-none absolute inset-x-0 top-2 z-20 flex justify-center">
          <div className="pointer-events-auto inline-flex items-center rounded-md shadow-md">
            <Button small tone="primary" className="rounded-r-none" onClick={toUnread} icon={<ArrowUp aria-hidden className="size-4" />}>
              {above} new
            </Button>
            <Button small className="rounded-l-none border-l-0" title="Esc" onClick={all} icon={<CheckCheck aria-hidden className="size-4" />}>
              Mark all read
            </Button>
          </div>
        </div>
      )}
      {!atEnd && (
        <div className="pointer-events-none absolute inset-x-0 bottom-3 z-20 flex justify-center">
          <Button small tone={below > 0 ? "primary" : "plain"} className="pointer-events-auto shadow-md" onClick={toEnd} icon={<ArrowDown aria-hidden className="size-4" />}>
            {below > 0 ? `${below} new` : "Newest"}
          </Button>
        </div>
      )}
    </>
  );
}

// While something is unread, Esc does this before anything else that the page does with it.
function MarkAllRead({ run }: { run: () => void }) {
  useShortcut("Escape", "Mark all messages here as read", run);
  return null;
}
