// What the approvals page asks the server for beside what is live.
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { api } from "@/api/client";
import { all } from "@/client/request";
import type { Message, PendingAction } from "@/client/types";
import { useConsole } from "@/app/console";
import { useLive, usePending } from "@/live/hooks";

/**
 * The ids of what this reader may answer, as the server lists them: for admins all.
 * Asked anew when something new waits, or waits no more. What is shown is live; this
 * says whose it is, and that it is known at all.
 */
export function useAnswerable() {
  const { session, actor } = useConsole();
  const known = usePending()
    .filter((p) => p.status === "open")
    .map((p) => p.id)
    .sort()
    .join(" ");
  return useQuery<ReadonlySet<string>>({
    queryKey: ["answerable", session, actor, known],
    queryFn: async () => new Set((await all((cursor) => api.GET("/v1/sessions/{session}/pending-actions", { params: { path: { session }, query: { cursor, limit: 200 } } }))).map((p) => p.id)),
    placeholderData: (before) => before,
  });
}

/** What was settled, the newest first, page after page; asked for once it is wanted. */
export function useSettled(wanted: boolean) {
  const { session, actor } = useConsole();
  return useInfiniteQuery({
    queryKey: ["settled", session, actor],
    queryFn: ({ pageParam: cursor }) =>
      api.GET("/v1/sessions/{session}/pending-actions", { params: { path: { session }, query: { status: "answered,expired,canceled", order: "newest", cursor, limit: 50 } } }),
    enabled: wanted,
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.nextCursor ?? undefined,
  });
}

/** What the message that started the run said when the model read it. Events do not say. */
export function useTrigger(pending: PendingAction): { text: string | null; editedAt: string | null } {
  const { session } = useConsole();
  const { data: found } = useQuery({
    queryKey: ["pending-trigger", session, pending.id],
    queryFn: async () => {
      const { items } = await api.GET("/v1/sessions/{session}/pending-actions", { params: { path: { session }, query: { run: pending.runId, status: pending.status, limit: 200 } } });
      return items.find((p) => p.id === pending.id) ?? null;
    },
  });
  return { text: found?.triggerText ?? pending.triggerText, editedAt: found?.triggerEditedAt ?? pending.triggerEditedAt };
}

// How many pages of 200 are looked through for an old message.
const mostPages = 5;

/** The messages before the one that asks, at most `n`, and that one; live where they are here. */
export function useContext(pending: PendingAction, n: number) {
  const { session } = useConsole();
  const live = useLive().live;
  const { spaceId, messageId } = pending;
  const here = spaceId === null || messageId === null ? [] : around((live.spaces.get(spaceId)?.order ?? []).flatMap((id) => live.messages.get(id) ?? []), messageId, n);
  const first = spaceId === null ? undefined : live.messages.get(live.spaces.get(spaceId)?.order[0] ?? "");
  const asked = useQuery({
    queryKey: ["context", session, spaceId, messageId, n],
    enabled: here.length === 0 && spaceId !== null && messageId !== null,
    staleTime: Infinity,
    queryFn: async () => {
      let before = first?.seq;
      for (let page = 0; page < mostPages; page++) {
        const { items } = await api.GET("/v1/sessions/{session}/spaces/{space}/messages", { params: { path: { session, space: spaceId ?? "" }, query: { before, limit: 200 } } });
        const found = around(items, messageId ?? "", n);
        if (found.length > 0) return found;
        before = items[0]?.seq;
        if (before === undefined || before <= 1) break;
      }
      return [];
    },
  });
  return { messages: here.length > 0 ? here : (asked.data ?? []), loading: here.length === 0 && asked.isLoading };
}

/** The message of that id with those before it, at most `n`; nothing if it is not there. */
export function around(messages: readonly Message[], id: string, n: number): Message[] {
  const at = messages.findIndex((m) => m.id === id);
  return at < 0 ? [] : messages.slice(Math.max(0, at - n), at + 1);
}
