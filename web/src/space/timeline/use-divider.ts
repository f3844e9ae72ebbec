// The line over what is unread. It is drawn when the reader comes, to the space or back to
// the tab, and when they mark messages as unread; it stays where it is while they read.
import { useEffect, useRef, useState } from "react";
import type { Space } from "@shoal-dev/client";
import { isHeld } from "./marked-unread";
import { useVisible } from "./use-visible";

/** The seq of the message after the line; undefined without a line. */
export function useDivider({ id, firstUnreadSeq }: Space): number | undefined {
  const visible = useVisible();
  const [divider, setDivider] = useState(firstUnreadSeq > 0 ? firstUnreadSeq : undefined);
  const wasVisible = useRef(visible);
  useEffect(() => {
    const came = visible && !wasVisible.current;
    wasVisible.current = visible;
    if (firstUnreadSeq > 0 && (came || isHeld(id))) setDivider(firstUnreadSeq);
  }, [visible, id, firstUnreadSeq]);
  return divider;
}
