// The members that a text may mention.
import { useQuery } from "@tanstack/react-query";
import { useDeferredValue, useMemo } from "react";
import { api } from "@/api/client";
import { listsAll, type Member, type Space } from "@shoal-dev/client";
import { pathOf } from "../path-of";
import { calledIn } from "./mentions";

/** The members that a space lists, and of a large space also those that the server finds by what follows each "@". */
export function useMentionable(space: Space | undefined, text: string): readonly Member[] {
  const called = useDeferredValue(space === undefined || listsAll(space) ? "" : calledIn(text).join("\n"));
  const { data: found = none } = useQuery({
    queryKey: ["members", space?.sessionId, space?.id, "called", called],
    enabled: called !== "",
    queryFn: async () => {
      if (space === undefined) return none;
      const path = pathOf(space);
      const pages = await Promise.all(called.split("\n").map((q) => api.GET("/v1/sessions/{session}/spaces/{space}/members", { params: { ...path, query: { q, limit: 20 } } })));
      return pages.flatMap((p) => p.items);
    },
    staleTime: 60_000,
    placeholderData: (before) => before,
  });
  const members = space?.members ?? none;
  return useMemo(() => {
    const listed = new Set(members.map((m) => m.entityId));
    const more = new Map(found.filter((m) => !listed.has(m.entityId)).map((m) => [m.entityId, m]));
    return more.size === 0 ? members : [...members, ...more.values()];
  }, [members, found]);
}

const none: readonly Member[] = [];
