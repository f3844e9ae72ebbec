// The machines on which coding agents of the session run.
import { queryOptions } from "@tanstack/react-query";
import { api } from "@/api/client";
import { allPages, type components } from "@shoal-dev/client";

export type Runner = components["schemas"]["Runner"];
export type RunnerAgent = components["schemas"]["RunnerAgent"];

export const runnersKey = (session: string) => ["runners", session] as const;

/** All runners. They report every 30 seconds, and no event says that they have. */
export const runnersQuery = (session: string) =>
  queryOptions({
    queryKey: runnersKey(session),
    queryFn: () => allPages<Runner>((cursor) => api.GET("/v1/sessions/{session}/runners", { params: { path: { session }, query: { limit: 200, cursor } } })),
    refetchInterval: 10_000,
  });
