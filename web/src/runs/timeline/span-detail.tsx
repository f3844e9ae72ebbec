// All that is known of one row of the timeline.
import { Link } from "@tanstack/react-router";
import { X } from "lucide-react";
import type { ReactNode } from "react";
import { settledWords, useNames } from "@/approvals/settled";
import { useConsole } from "@/app/console";
import { IconButton } from "@/ui/button";
import { Moment } from "@/ui/time";
import { Value } from "../json";
import { SpaceLink } from "../trigger";
import { allTokens, callWord, money } from "../words";
import { MissingTools } from "./missing-tools";
import type { Span } from "./spans";
import { took } from "./waterfall";

export function SpanDetail({ span, run, now, onClose }: { span: Span; run: string; now: number; onClose: () => void }) {
  return (
    <aside aria-label={`Details of ${span.name}`} className="flex min-w-0 flex-col gap-3 rounded-lg border border-line bg-surface p-3">
      <div className="flex items-start justify-between gap-2">
        <h3 className="min-w-0 font-semibold break-words">{span.name}</h3>
        <IconButton label="Close the details" onClick={onClose}>
          <X aria-hidden className="size-4" />
        </IconButton>
      </div>
      <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1 text-sm">
        <Fact name="Took">{took(span, now)}</Fact>
        {span.from !== null && (
          <Fact name="Started">
            <Exact at={span.from} />
          </Fact>
        )}
        {span.kind === "model" && span.model !== undefined && <ModelFacts step={span.model} />}
        {span.call !== undefined && <Fact name="Status">{callWord(span.call.status)}</Fact>}
        {span.pending !== undefined && <WaitFacts pending={span.pending} />}
      </dl>
      {span.about && <p className="text-xs text-soft">The server keeps no exact times of this; they are taken from what stands around it.</p>}
      {span.kind === "queue" && <p className="text-sm text-soft">The time from the trigger until the server had room for the run, settling time included.</p>}
      {span.model !== undefined && span.kind === "model" && (
        <>
          <MissingTools steps={[span.model]} />
          {span.model.reasoning !== "" && <Value title="Reasoning" value={span.model.reasoning} />}
          {span.model.text !== "" && <Value title="Text (private: not shown in a space)" value={span.model.text} />}
        </>
      )}
      {span.model !== undefined && (
        <SawLink run={run} step={span.model.index} />
      )}
      {(span.call ?? span.pending) !== undefined && <Value title="Arguments" value={(span.call ?? span.pending)?.args} />}
      {span.pending?.question != null && <Value title="Question" value={span.pending.question} />}
      {span.call?.result != null && <Value title={span.failed ? "Error" : "Result, as the model received it"} value={span.call.result} />}
    </aside>
  );
}

function SawLink({ run, step }: { run: string; step: number }) {
  const { session } = useConsole();
  return (
    <Link to="/s/$session/runs/$run" params={{ session, run }} search={{ tab: "saw", step }} className="self-start text-sm text-accent underline underline-offset-2">
      What the model saw in step {step + 1}
    </Link>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt className="text-soft">{name}</dt>
      <dd className="min-w-0 break-words tabular-nums">{children}</dd>
    </>
  );
}

const exact = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

function Exact({ at }: { at: number }) {
  return <time dateTime={new Date(at).toISOString()}>{exact.format(at)}</time>;
}

function ModelFacts({ step }: { step: NonNullable<Span["model"]> }) {
  const u = step.usage;
  return (
    <>
      <Fact name="Tokens in">
        {allTokens(u.inputTokens)}
        {u.cachedInputTokens > 0 && `, ${allTokens(u.cachedInputTokens)} of them cached`}
      </Fact>
      <Fact name="Tokens out">
        {allTokens(u.outputTokens)}
        {u.reasoningTokens > 0 && `, ${allTokens(u.reasoningTokens)} of them reasoning`}
      </Fact>
      <Fact name="Cost">{money(u.cost, u.currency)}</Fact>
      {step.firstTokenMs !== null && <Fact name="First token">after {step.firstTokenMs} ms</Fact>}
      {step.finishReason !== "" && <Fact name="Finish reason">{step.finishReason.replace("_", " ")}</Fact>}
    </>
  );
}

function WaitFacts({ pending }: { pending: NonNullable<Span["pending"]> }) {
  const name = useNames();
  const { session } = useConsole();
  return (
    <>
      <Fact name="Answer">
        {settledWords(pending, name)}
        {pending.answeredAt !== null && (
          <>
            , <Moment at={pending.answeredAt} />
          </>
        )}
      </Fact>
      <Fact name="Asked in">{pending.spaceId === null ? "No space: services and admins answer" : <SpaceLink space={pending.spaceId} />}</Fact>
      {pending.expiresAt !== null && (
        <Fact name="Deadline">
          <Moment at={pending.expiresAt} />
        </Fact>
      )}
      {pending.status === "open" && (
        <Fact name="Respond">
          <Link to="/s/$session/approvals" params={{ session }} search={{ pending: pending.id }} className="text-accent underline underline-offset-2">
            under Approvals
          </Link>
        </Fact>
      )}
    </>
  );
}
