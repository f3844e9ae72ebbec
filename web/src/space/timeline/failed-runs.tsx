// Runs that a message started and that failed without posting: shows the author of
// the message the server's reason.
import { CircleX } from "lucide-react";
import type { Run } from "@shoal-dev/client";
import { useName } from "@/live/hooks";
import { RunLink } from "./run-link";

export function FailedRuns({ runs }: { runs: readonly Run[] }) {
  return runs.map((run) => <FailedRun key={run.id} run={run} />);
}

function FailedRun({ run }: { run: Run }) {
  const name = useName(run.agentId);
  return (
    <p className="mt-1 rounded-md bg-bad-soft px-2 py-1 text-sm wrap-anywhere text-bad">
      <CircleX aria-hidden className="mr-1.5 inline size-4 align-text-bottom" />
      {name} could not answer: {run.error?.message ?? "its run failed."} <RunLink run={run.id} />
    </p>
  );
}
