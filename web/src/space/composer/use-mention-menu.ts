// The menu of an "@": when it is open, what it offers, and its keys.
import { type KeyboardEvent, useMemo, useState } from "react";
import type { Member } from "@shoal-dev/client";
import { begunAt, candidates, writtenMention } from "./mentions";

export interface MentionChoice {
  readonly offered: readonly Member[];
  readonly chosen: number;
  /** Puts a member in place of what was begun. */
  pick(m: Member): void;
  /** Takes a key; returns whether it was the menu's. */
  key(event: KeyboardEvent): boolean;
}

/** `put` replaces the text and sets the caret. */
export function useMentionMenu(text: string, caret: number, members: readonly Member[], self: string | null, put: (text: string, caret: number) => void): MentionChoice {
  const begun = begunAt(text, caret);
  const [closed, setClosed] = useState<number>();
  const [at, setAt] = useState<{ query: string; chosen: number }>({ query: "", chosen: 0 });
  const query = begun?.query;
  const offered = useMemo(() => {
    if (query === undefined) return none;
    const found = candidates(query, members, self);
    // The name is written out: nothing is left to choose.
    const only = found.length === 1 ? found[0] : undefined;
    return only !== undefined && query.length > 1 && writtenMention(only, members).toLowerCase() === `@${query.toLowerCase()}` ? none : found;
  }, [query, members, self]);
  const open = begun !== undefined && closed !== begun.start && offered.length > 0;
  const chosen = at.query === query ? Math.min(at.chosen, offered.length - 1) : 0;

  const pick = (m: Member) => {
    if (begun === undefined) return;
    const before = `${text.slice(0, begun.start)}${writtenMention(m, members)} `;
    put(before + text.slice(caret).replace(/^ /, ""), before.length);
  };
  const step = (by: number) => setAt({ query: query ?? "", chosen: (chosen + by + offered.length) % offered.length });
  const key = (event: KeyboardEvent): boolean => {
    if (begun === undefined) {
      if (closed !== undefined) setClosed(undefined);
      return false;
    }
    if (!open || event.ctrlKey || event.metaKey || event.altKey) return false;
    const member = offered[chosen];
    if (event.key === "ArrowDown") step(1);
    else if (event.key === "ArrowUp") step(-1);
    else if (event.key === "Escape") setClosed(begun.start);
    else if ((event.key === "Enter" || event.key === "Tab") && !event.shiftKey && member !== undefined) pick(member);
    else return false;
    return true;
  };
  return { offered: open ? offered : none, chosen, pick, key };
}

const none: readonly Member[] = [];
