// The tab Errors: all that went wrong in a run, and what was denied.
import { Link } from "@tanstack/react-router";
import type { Run, Step } from "@shoal-dev/client";
import { useConsole } from "@/app/console";
import { Badge } from "@/ui/badge";
import { Empty } from "@/ui/placeholder";
import { RetryRun } from "./actions";
import { ErrorNotice } from "./error-notice";
import { Value } from "./json";
import type { RunRecord } from "./record";
import { callFailed, callWord } from "./words";

/** A call that failed or was denied, or an answer of the model that was cut off. */
export interface Fault {
  readonly step: number;
  /** The row of the timeline that shows it. */
  readonly span: string;
  readonly name: string;
  readonly word: string;
  readonly denied: boolean;
  readonly args: unknown;
  readonly result: string | null;
}

const cutOff: Record<string, string> = {
  length: "The model's answer reached the limit of output tokens (model.maxOutputTokens).",
  content_filter: "The provider's content filter blocked the model's answer.",
  error: "The model's answer was interrupted.",
};

/** The faults of all steps, in order. */
export function faultsOf(steps: readonly Step[]): Fault[] {
  return steps.flatMap((s) => {
    const model = cutOff[s.finishReason];
    const own: Fault[] = model === undefined ? [] : [{ step: s.index, span: `${s.index}.model`, name: s.model, word: s.finishReason.replace("_", " "), denied: false, args: undefined, result: model }];
    const calls = s.toolCalls
      .filter((c) => callFailed(c.status) || c.status === "denied")
      .map((c) => ({ step: s.index, span: `${s.index}.${c.toolCallId}`, name: c.toolName, word: callWord(c.status), denied: c.status === "denied", args: c.args, result: c.result }));
    return [...own, ...calls];
  });
}

export function ErrorsTab({ record }: { record: RunRecord }) {
  const faults = faultsOf(record.steps ?? []);
  if (record.run.error === null && faults.length === 0) return <Empty title="No errors">{record.steps === null ? "The run itself has no error. Only admins and services can see its tool calls." : "The run has no error, and none of its tool calls failed or was denied."}</Empty>;
  return (
    <div className="flex max-w-read flex-col gap-4 p-5">
      <ErrorNotice run={record.run} action={<RetryRun run={record.run} small />} />
      {faults.map((f) => (
        <FaultCard key={f.span} run={record.run} fault={f} />
      ))}
    </div>
  );
}

function FaultCard({ run, fault }: { run: Run; fault: Fault }) {
  const { session } = useConsole();
  return (
    <section aria-label={`${fault.name}, step ${fault.step + 1}`} className="flex min-w-0 flex-col gap-2 rounded-lg border border-line bg-surface p-3">
      <div className="flex flex-wrap items-center gap-2">
        <h3 className="font-semibold break-all">{fault.name}</h3>
        <Badge tone={fault.denied ? "warn" : "bad"}>{fault.word}</Badge>
        <Link to="/s/$session/runs/$run" params={{ session, run: run.id }} search={{ span: fault.span }} className="ml-auto text-sm text-accent underline underline-offset-2">
          Step {fault.step + 1} in the timeline
        </Link>
      </div>
      {fault.result !== null && <Value title={fault.denied ? "Result, as the model received it" : "Error"} value={fault.result} />}
      {fault.args !== undefined && <Value title="Arguments" value={fault.args} />}
    </section>
  );
}
