// The inspector of one run.
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useMemo } from "react";
import { Back } from "@/app/back";
import { useConsole } from "@/app/console";
import { useFreshActs } from "@/app/fresh-acts";
import { ended, ShoalError } from "@shoal-dev/client";
import { useName } from "@/live/hooks";
import { Page } from "@/ui/page";
import { Empty, Failed, Loading } from "@/ui/placeholder";
import { type Tab, Tabs } from "@/ui/tabs";
import { CancelRun, ExportRun, RetryRun } from "./actions";
import { ErrorsTab, faultsOf } from "./errors-tab";
import { EventsTab } from "./events-tab";
import { type Entry, exportLines, journal, storedEntries, useCame } from "./journal";
import { MessagesTab } from "./messages-tab";
import { type RunRecord, useRunRecord } from "./record";
import { RunHead } from "./run-head";
import { RequestsTab } from "./requests/requests-tab";
import { TimelineTab } from "./timeline/timeline-tab";

export function RunPage() {
  useFreshActs();
  const { run } = useParams({ from: "/s/$session/runs/$run" });
  return <Inspector key={run} run={run} />;
}

function Inspector({ run }: { run: string }) {
  const { record, store, problem, retry } = useRunRecord(run);
  const { tab } = useSearch({ from: "/s/$session/runs/$run" });
  const agent = useName(record?.run.agentId ?? "");
  const came = useCame(store);
  const log = useMemo(() => (record === undefined ? [] : journal(storedEntries(record), came)), [record, came]);
  if (record === undefined)
    return (
      <Page title="Run" back={back}>
        {problem === null ? <Loading /> : ShoalError.from(problem).status === 404 ? <Unknown /> : <Failed error={problem} retry={retry} />}
      </Page>
    );
  return (
    <Page
      title={`Run of ${agent}`}
      back={back}
      about={<code className="text-xs">{record.run.id}</code>}
      actions={
        <>
          <CancelRun run={record.run} />
          <RetryRun run={record.run} />
          <ExportRun run={record.run.id} lines={() => exportLines(record, log)} />
        </>
      }
    >
      {problem !== null && <Failed error={problem} retry={retry} />}
      <RunHead run={record.run} quiet={tab === "errors"} />
      <Views record={record} log={log} />
    </Page>
  );
}

function Unknown() {
  const { session } = useConsole();
  return (
    <Empty
      title="Run not found"
      action={
        <Link to="/s/$session/runs" params={{ session }} className="text-accent underline">
          All runs
        </Link>
      }
    >
      It does not exist or is not in your spaces.
    </Empty>
  );
}

const back = <Back to="/s/$session/runs" label="All runs" />;

type View = "timeline" | "messages" | "saw" | "events" | "errors";

function Views({ record, log }: { record: RunRecord; log: readonly Entry[] }) {
  const search = useSearch({ from: "/s/$session/runs/$run" });
  const go = useNavigate({ from: "/s/$session/runs/$run" });
  const over = ended(record.run.status);
  const faults = faultsOf(record.steps ?? []).length + (record.run.status === "failed" ? 1 : 0);
  const views: readonly Tab<View>[] = [
    { id: "timeline", name: "Timeline" },
    { id: "messages", name: "Messages", count: record.messages.length },
    ...(record.steps === null ? [] : [{ id: "saw", name: "What the model saw" } as const]),
    { id: "events", name: "Events" },
    { id: "errors", name: "Errors", count: faults, tone: "bad" },
  ];
  const shown = views.find((v) => v.id === search.tab) ?? views[0];
  if (shown === undefined) return null;
  return (
    <Tabs label="Views of the run" tabs={views} value={shown.id} onChange={(id) => void go({ search: (s) => ({ ...s, tab: id === "timeline" ? undefined : id }), replace: true })}>
      <h2 className="sr-only">{shown.name}</h2>
      {shown.id === "timeline" && <TimelineTab record={record} />}
      {shown.id === "messages" && <MessagesTab messages={record.messages} over={over} />}
      {shown.id === "saw" && <RequestsTab run={record.run.id} steps={record.steps ?? []} />}
      {shown.id === "events" && <EventsTab log={log} over={over} />}
      {shown.id === "errors" && <ErrorsTab record={record} />}
    </Tabs>
  );
}
