// The queries of the approvals page, besides the live state.
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { api } from "@/api/client";
import { type Message, type MessageTrigger, type PendingAction } from "@shoal-dev/client";
import { useConsole } from "@/app/console";
import { useLive } from "@/live/hooks";

/** The settled actions, the newest first, page after page, loaded on demand. */
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

/** The message that started the run, as the model read it. Events do not contain it. */
export function useTrigger(pending: PendingAction): { text: string | null; editedAt: string | null } {
  const { session } = useConsole();
  const { data: found } = useQuery({
    queryKey: ["pending-trigger", session, pending.id],
    enabled: pending.runId !== "",
    queryFn: async () => {
      const { items } = await api.GET("/v1/sessions/{session}/pending-actions", { params: { path: { session }, query: { run: pending.runId, status: pending.status, limit: 200 } } });
      return items.find((p) => p.id === pending.id) ?? null;
    },
  });
  return { text: found?.triggerText ?? pending.triggerText, editedAt: found?.triggerEditedAt ?? pending.triggerEditedAt };
}

// The number of pages of 200 that are searched for an old message.
const mostPages = 5;

/** Where the conversation is that led to an action: where the agent was asked, else where the action is shown. */
export interface Conversation {
  readonly spaceId: string;
  readonly messages: readonly Message[];
  readonly loading: boolean;
}

/** The newest messages of that conversation, up to what the run wrote there; at most `n` before it. */
export function useConversation(pending: PendingAction, origin: MessageTrigger | undefined, n: number): Conversation {
  const { session } = useConsole();
  const live = useLive().live;
  const spaceId = origin?.spaceId ?? pending.spaceId;
  const known = spaceId === null ? [] : live.messagesIn(spaceId);
  const messageId = known.findLast((m) => m.runId === pending.runId)?.id ?? origin?.messageId ?? pending.messageId;
  const here = messageId === null ? [] : around(known, messageId, n);
  const asked = useQuery({
    queryKey: ["context", session, spaceId, messageId, n],
    enabled: here.length === 0 && spaceId !== null && messageId !== null,
    staleTime: Infinity,
    queryFn: async () => {
      let before = known[0]?.seq;
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
  return { spaceId: spaceId ?? "", messages: here.length > 0 ? here : (asked.data ?? []), loading: here.length === 0 && asked.isLoading };
}

/** The message with that id and at most `n` before it; empty if it is missing. */
export function around(messages: readonly Message[], id: string, n: number): Message[] {
  const at = messages.findIndex((m) => m.id === id);
  return at < 0 ? [] : messages.slice(Math.max(0, at - n), at + 1);
}
