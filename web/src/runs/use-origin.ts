// Where a run was asked for.
import { useQuery } from "@tanstack/react-query";
import { api } from "@/api/client";
import type { MessageTrigger } from "@shoal-dev/client";
import { useConsole } from "@/app/console";
import { useRun } from "@/live/hooks";
import { fromSpace } from "./trigger";

/**
 * The message of a space that started a run; undefined if there is none, and for readers
 * who are not in its space. Events of another space do not contain it, so it is requested.
 */
export function useOrigin(run: string, wanted = true): MessageTrigger | undefined {
  const { session, actor } = useConsole();
  const live = useRun(run)?.trigger;
  const known = live !== undefined && fromSpace(live) ? live : undefined;
  const { data: fetched } = useQuery({
    queryKey: [session, actor, "origin", run],
    queryFn: async () => {
      const { trigger } = await api.GET("/v1/sessions/{session}/runs/{run}", { params: { path: { session, run } } });
      return fromSpace(trigger) ? trigger : null;
    },
    enabled: wanted && run !== "" && known === undefined && (live === undefined || live.type === "space_message"),
    staleTime: Infinity,
    retry: false,
  });
  return known ?? fetched ?? undefined;
}
