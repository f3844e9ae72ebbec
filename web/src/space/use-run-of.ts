// The run that a message belongs to.
import { useQuery } from "@tanstack/react-query";
import { api } from "@/api/client";
import type { Message, Run } from "@shoal-dev/client";
import { useConsole } from "@/app/console";
import { useRun } from "@/live/hooks";

/**
 * The run that composed a message. A run that the stream has not delivered is fetched
 * only where it matters: the message is unfinished, or it failed.
 */
export function useRunOf(message: Message): Run | undefined {
  const { session, actor } = useConsole();
  const id = message.runId ?? "";
  const live = useRun(id);
  const asked = useQuery({
    queryKey: [session, actor, "run", id],
    queryFn: () => api.GET("/v1/sessions/{session}/runs/{run}", { params: { path: { session, run: id } } }),
    enabled: id !== "" && live === undefined && (message.status === "streaming" || message.status === "failed"),
    staleTime: Infinity,
  });
  return live ?? asked.data;
}
