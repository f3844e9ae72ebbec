// The line over what is unread. It is laid when the reader comes, to the space or
// back to the tab, and stays where it is while they read.
import { useEffect, useRef, useState } from "react";
import type { Message } from "@/client/types";
import { firstUnread } from "./entries";
import { useVisible } from "./use-visible";

/** The id of the message after the line; undefined without a line. */
export function useDivider(messages: readonly Message[], unread: number, reader: string | null): string | undefined {
  const visible = useVisible();
  const [divider, setDivider] = useState(() => firstUnread(messages, unread, reader));
  const latest = useRef({ messages, unread });
  latest.current = { messages, unread };
  const came = useRef(visible);
  useEffect(() => {
    if (visible && !came.current && latest.current.unread > 0) setDivider(firstUnread(latest.current.messages, latest.current.unread, reader));
    came.current = visible;
  }, [visible, reader]);
  return divider;
}
