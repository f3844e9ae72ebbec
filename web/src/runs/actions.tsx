// What can be done with a run: stop it, start it anew, take it away as a file.
import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Download, RotateCcw, Square } from "lucide-react";
import { useState } from "react";
import { api } from "@/api/client";
import { ended, type Run } from "@shoal-dev/client";
import { useConsole } from "@/app/console";
import { useConnection } from "@/live/hooks";
import { Button } from "@/ui/button";
import { Confirm } from "@/ui/confirm";
import { notify, notifyError } from "@/ui/notice";
import { runWord } from "@/ui/state";

/** Stops a run that is under way, after a question. */
export function CancelRun({ run, small = false }: { run: Run; small?: boolean }) {
  const { session, may } = useConsole();
  const offline = useConnection().state !== "live";
  const [asked, ask] = useState(false);
  if (ended(run.status) || !may("control_run")) return null;
  const cancel = async () => {
    const now = await api.POST("/v1/sessions/{session}/runs/{run}/cancel", { params: { path: { session, run: run.id } } });
    notify(now.status === "canceled" ? "The run is stopped." : `The run is ${runWord(now.status)}.`);
  };
  return (
    <>
      <Button small={small} tone="danger" icon={<Square aria-hidden className="size-3 fill-current" />} disabled={offline} title={offline ? "The server does not answer." : undefined} onClick={() => ask(true)}>
        Stop
      </Button>
      {asked && (
        <Confirm title="Stop this run?" action="Stop the run" run={cancel} onClose={() => ask(false)}>
          <p>Messages it has written stay. Its open questions and approvals are canceled. A tool call in progress may still take effect.</p>
        </Confirm>
      )}
    </>
  );
}

/** Starts an ended run anew, from the same trigger, and goes there. */
export function RetryRun({ run, small = false }: { run: Run; small?: boolean }) {
  const { session, may } = useConsole();
  const go = useNavigate();
  const offline = useConnection().state !== "live";
  const retry = useMutation({
    mutationFn: () => api.POST("/v1/sessions/{session}/runs/{run}/retry", { params: { path: { session, run: run.id } } }),
    onSuccess: (made) => void go({ to: "/s/$session/runs/$run", params: { session, run: made.runId } }),
    onError: notifyError,
  });
  if (!ended(run.status) || !may("control_run")) return null;
  return (
    <Button small={small} icon={<RotateCcw aria-hidden className="size-3.5" />} busy={retry.isPending} disabled={offline} title={offline ? "The server does not answer." : "Starts a new run of the agent from the same trigger"} onClick={() => retry.mutate()}>
      Retry
    </Button>
  );
}

/** Saves lines of JSON as a file. */
export function ExportRun({ run, lines }: { run: string; lines: () => readonly unknown[] }) {
  const save = () => {
    const text = lines().map((l) => JSON.stringify(l) + "\n");
    const url = URL.createObjectURL(new Blob(text, { type: "application/jsonl" }));
    const a = document.createElement("a");
    a.href = url;
    a.download = `${run}.jsonl`;
    a.click();
    setTimeout(() => URL.revokeObjectURL(url), 10_000);
  };
  return (
    <Button icon={<Download aria-hidden className="size-3.5" />} onClick={save} title="The run with its steps, messages, waits and events, one JSON object on each line">
      Export JSONL
    </Button>
  );
}
