// The members that a text may mention.
import { useQueries } from "@tanstack/react-query";
import { useDeferredValue, useMemo } from "react";
import { api } from "@/api/client";
import { listsAll } from "@/client/members";
import type { Member, Space } from "@/client/types";
import { pathOf } from "../path-of";
import { calledIn } from "./mentions";

/** The members that a space lists, and of a large space also those that the server finds by what follows each "@". */
export function useMentionable(space: Space | undefined, text: string): readonly Member[] {
  const called = useDeferredValue(space === undefined || listsAll(space) ? "" : calledIn(text).join("\n"));
  const found = useQueries({
    queries: space === undefined || called === "" ? [] : called.split("\n").map((q) => ({
      queryKey: ["members", space.sessionId, space.id, "called", q],
      queryFn: () => api.GET("/v1/sessions/{session}/spaces/{space}/members", { params: { ...pathOf(space), query: { q, limit: 20 } } }),
      staleTime: 60_000,
    })),
    combine: itemsOf,
  });
  const members = space?.members ?? none;
  return useMemo(() => {
    const listed = new Set(members.map((m) => m.entityId));
    const more = new Map(found.filter((m) => !listed.has(m.entityId)).map((m) => [m.entityId, m]));
    return more.size === 0 ? members : [...members, ...more.values()];
  }, [members, found]);
}

const none: readonly Member[] = [];
const itemsOf = (answers: readonly { data?: { items: readonly Member[] } | undefined }[]): readonly Member[] => answers.flatMap((a) => a.data?.items ?? []);
