// The list of runs, live.
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import { useCallback, useMemo, useRef, useState } from "react";
import { api } from "@/api/client";
import { useConsole } from "@/app/console";
import { useRuns } from "@/live/hooks";
import { Page } from "@/ui/page";
import { Empty, Failed, Loading } from "@/ui/placeholder";
import { merged, over, sinceOf, statusOf, type Wanted } from "./list";
import { RunFilters } from "./run-filters";
import { RunTable } from "./run-table";
import { UsageSummary } from "./usage-summary";

export function RunsPage() {
  const wanted = useSearch({ from: "/s/$session/runs" });
  const { session, actor } = useConsole();
  const { agent, space, trigger } = wanted;
  const status = statusOf(wanted);
  const [opened] = useState(Date.now);
  const since = sinceOf(wanted, opened);
  const box = useRef<HTMLDivElement>(null);
  const pages = useInfiniteQuery({
    queryKey: ["runs", session, actor, { agent, space, status, trigger, since }],
    queryFn: ({ pageParam: cursor }) => api.GET("/v1/sessions/{session}/runs", { params: { path: { session }, query: { agent, space, status, trigger, since, cursor, limit: 100 } } }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.nextCursor ?? undefined,
  });
  // The stream of the session does not report runs that were started outside a space.
  const newest = useQuery({
    queryKey: ["newest-runs", session, actor, { agent, space, status, trigger, since }],
    queryFn: async () => (await api.GET("/v1/sessions/{session}/runs", { params: { path: { session }, query: { agent, space, status, trigger, since, limit: 50 } } })).items,
    refetchInterval: 4000,
  });
  const live = useRuns();
  const { hasNextPage: more, fetchNextPage, isFetchingNextPage: fetching } = pages;
  const runs = useMemo(() => merged(over(pages.data?.pages.flatMap((p) => p.items) ?? [], newest.data ?? []), pages.data === undefined ? [] : live, wanted, more), [pages.data, newest.data, live, wanted, more]);
  const onEnd = useCallback(() => {
    if (more && !fetching) void fetchNextPage();
  }, [more, fetching, fetchNextPage]);
  return (
    <Page title="Runs" about="Past and current runs of the hosted agents.">
      <div ref={box} className="relative h-full overflow-y-auto">
        <UsageSummary />
        <RunFilters />
        {pages.isPending ? (
          <Loading lines={8} />
        ) : pages.isError && pages.data === undefined ? (
          <Failed error={pages.error} retry={() => void pages.refetch()} />
        ) : runs.length === 0 ? (
          <None wanted={wanted} />
        ) : (
          <RunTable runs={runs} box={box} more={more} onEnd={onEnd} />
        )}
        {pages.isFetchNextPageError && <Failed error={pages.error} retry={() => void fetchNextPage()} />}
        {fetching && <Loading lines={2} label="Loading older runs" />}
      </div>
    </Page>
  );
}

function None({ wanted }: { wanted: Wanted }) {
  const { session } = useConsole();
  if (wanted.agent !== undefined || wanted.space !== undefined || wanted.failed === true || wanted.status !== undefined || wanted.trigger !== undefined || wanted.within !== undefined)
    return (
      <Empty
        title="No matching runs"
        action={
          <Link to="/s/$session/runs" params={{ session }} replace className="text-accent underline">
            Show all runs
          </Link>
        }
      />
    );
  return (
    <Empty title="No runs yet" command="shoal runs">
      A run starts when a person writes to a hosted agent, when a plan (a schedule) is due, or when a service triggers it.
    </Empty>
  );
}
