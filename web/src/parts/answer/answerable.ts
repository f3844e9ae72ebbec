// Which of the open actions the reader may answer, as the server decides it.
import { useQuery } from "@tanstack/react-query";
import { api } from "@/api/client";
import { allPages } from "@shoal-dev/client";
import { useConsole } from "@/app/console";
import { usePending } from "@/live/hooks";

/**
 * The ids of the actions that the caller may answer, as the server lists them; all of them
 * for admins. Requested again when an action is opened or settled, and when the role changes. The actions shown are
 * live; this query only says whose they are, and that they are known.
 */
export function useAnswerable(enabled = true) {
  const { me, session, actor } = useConsole();
  const known = usePending()
    .filter((p) => p.status === "open")
    .map((p) => p.id)
    .sort()
    .join(" ");
  return useQuery<ReadonlySet<string>>({
    queryKey: ["answerable", session, actor, me.acts, known],
    queryFn: async () => new Set((await allPages((cursor) => api.GET("/v1/sessions/{session}/pending-actions", { params: { path: { session }, query: { cursor, limit: 200 } } }))).map((p) => p.id)),
    placeholderData: (before) => before,
    enabled,
  });
}

/**
 * Reports whether the server is known to refuse the caller's answer to an open action. It is false
 * for admins, and until the server has said it.
 */
export function useRefused(pending: string | undefined): boolean {
  const { me } = useConsole();
  const { data, isPlaceholderData } = useAnswerable(pending !== undefined && me.role === "entity");
  return pending !== undefined && data !== undefined && !isPlaceholderData && !data.has(pending);
}
