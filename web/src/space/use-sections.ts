// The sections of the space list, which hold still while the reader points at them.
import { useParams } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { useConsole } from "@/app/console";
import { isPinned, useListMemory } from "./list-memory";
import type { SpaceRow } from "./order";
import { inPlace, isUnread, sections, type Sections } from "./sections";

/** Divides the reader's rows into sections. While `still`, no row moves. */
export function useSections(own: readonly SpaceRow[], still: boolean): Sections {
  const { session } = useConsole();
  const memory = useListMemory();
  const { space } = useParams({ strict: false });
  // Where the open space was when the reader opened it: reading it does not move it.
  const row = own.find((r) => r.space.id === space);
  const [opened, setOpened] = useState(() => placeOf(row));
  if (opened?.id !== row?.space.id) setOpened(placeOf(row));
  const pinned = new Set(own.filter((r) => isPinned(memory, session, r.space.id)).map((r) => r.space.id));
  const now = sections(own, memory.order, pinned, opened);
  const held = useRef(now);
  // What the reader does with the list themselves shows at once.
  const set = `${memory.order} ${memory.pinned.join()}`;
  const heldSet = useRef(set);
  const shown = still && heldSet.current === set ? inPlace(now, held.current) : now;
  useEffect(() => {
    held.current = shown;
    heldSet.current = set;
  });
  return shown;
}

const placeOf = (row: SpaceRow | undefined) => row && { id: row.space.id, unread: isUnread(row) };
