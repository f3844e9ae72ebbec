// A tool call as a card: its title, its state, what it was given, what came of it,
// and what answers it.
import { ChevronRight } from "lucide-react";
import { type ReactNode, useId, useMemo, useState } from "react";
import type { PendingAction, ToolPart } from "@shoal-dev/client";
import { classes } from "@/ui/classes";
import { useFocusKept } from "@/ui/focus";
import { duration, Moment } from "@/ui/time";
import { Settled, whoAnswered } from "../answer/answer";
import { Value } from "../renderers/value";
import { isFields, member } from "../renderers/shape";
import { LongWords, Words } from "../words/words";
import { Outcome } from "./outcome";
import { countChanges, editsOf, isWork } from "./work";
import { Changes, WorkArguments, WorkOutput } from "./work-value";
import { askedBack, deed, displayOptions, errorWords, isCard, isOver, opensItself, stateOf, titleOf, verdictOf } from "./reading";

export interface ToolCardProps {
  readonly part: ToolPart;
  /** Its message is written no more. */
  readonly over?: boolean;
  /** What waits at this part, or waited. */
  readonly pending?: PendingAction | undefined;
  /** What answers it, while it waits. */
  readonly answer?: ReactNode;
  /** What a custom renderer draws in place of the arguments and the result. */
  readonly custom?: ReactNode;
  /** The name of an entity. */
  readonly nameOf: (entity: string) => string;
  /** How long the call took, in ms. */
  readonly took?: number | undefined;
  /** It stands alone: it cannot be folded. */
  readonly whole?: boolean;
}

/** A change of files with more lines is folded at first. */
const mostOpen = 16;

/** A tool call: a card that is meant to be seen is open until it is answered, any other is folded until it fails or waits. */
export function ToolCard(props: ToolCardProps) {
  const { part, over = false, pending, custom, took, whole = false } = props;
  const id = useId();
  const kept = useFocusKept<HTMLDivElement>();
  const card = isCard(part, custom !== undefined);
  const [touched, touch] = useState<boolean>();
  const folds = custom === undefined && isOver(part);
  const edits = isWork(part) && part.status !== "input_streaming" ? part.args : undefined;
  const changes = useMemo(() => countChanges(editsOf(edits)), [edits]);
  const changed = changes.added + changes.removed;
  const open = whole || (touched ?? ((card && !folds) || (changed > 0 && changed <= mostOpen) || opensItself(part, pending)));
  const state = stateOf(part.status, over);
  if (displayOptions(part).hidden && !opensItself(part, pending) && touched === undefined && !whole) return null;
  return (
    <div {...kept} role="group" aria-label={titleOf(part, pending?.kind).text} className={classes("min-w-0 rounded-lg border bg-surface", state === "requires_action" ? "border-warn" : "border-line")}>
      <div className="flex min-w-0 flex-wrap items-center gap-2 px-3 py-1.5 text-sm">
        {whole ? (
          <Name part={part} kind={pending?.kind} />
        ) : (
          <button type="button" aria-expanded={open} aria-controls={id} onClick={() => touch(!open)} className="flex min-h-6 min-w-0 items-center gap-1.5 rounded text-left touch:-my-1 touch:min-h-11">
            <ChevronRight aria-hidden className={classes("size-4 shrink-0 text-soft", open && "rotate-90")} />
            <Name part={part} kind={pending?.kind} />
          </button>
        )}
        {changed > 0 && <Changes {...changes} />}
        <Outcome part={part} state={state} />
        {!open && part.answeredBy !== null && (
          <span className="min-w-0 text-soft">
            <Words text={pending?.status === "answered" ? whoAnswered(pending, props.nameOf) : props.nameOf(part.answeredBy)} /> {deed(part, pending?.kind ?? "client_tool")}
            {pending?.answeredAt != null && (
              <>
                , <Moment at={pending.answeredAt} />
              </>
            )}
          </span>
        )}
        {took !== undefined && <span className="text-soft tabular-nums">{duration(took)}</span>}
      </div>
      {open && (
        <div id={id} className="flex min-w-0 flex-col gap-3 border-t border-line px-3 py-2.5">
          <Body {...props} />
        </div>
      )}
    </div>
  );
}

function Name({ part, kind }: { part: ToolPart; kind: PendingAction["kind"] | undefined }) {
  const title = titleOf(part, kind).text;
  return (
    <span className="flex min-w-0 flex-wrap items-baseline gap-x-2">
      <span className="min-w-0 text-base font-semibold [overflow-wrap:anywhere]" dir="auto">
        <Words text={title} />
      </span>
      {part.toolName !== "" && part.toolName !== title && (
        <code className="min-w-0 text-xs text-soft [overflow-wrap:anywhere]">
          <Words text={part.toolName} />
        </code>
      )}
    </span>
  );
}

function Body({ part, over = false, pending, answer, custom, nameOf }: ToolCardProps) {
  const options = displayOptions(part);
  const state = stateOf(part.status, over);
  const asks = pending?.kind === "permission" && pending.status === "open";
  // The end of the card says it then.
  const error = errorWords(part, nameOf, part.answeredBy !== null || (pending !== undefined && pending.status !== "open"));
  return (
    <>
      {asks && (
        <p>
          <strong>
            <Words text={nameOf(pending.agentId)} />
          </strong>{" "}
          asks for permission to use <Words text={part.toolName} />
          {isFields(part.args) && Object.keys(part.args).length > 0 ? " with:" : "."}
        </p>
      )}
      {custom}
      {custom === undefined && options.input && !echoed(part) && <Arguments part={part} state={state} titled={titleOf(part, pending?.kind).ofArgs} quiet={pending?.kind === "question" && pending.question !== null} />}
      <Edited part={part} pending={pending} />
      {error !== "" && (isWork(part) && state === "error" ? <WorkOutput text={error} failed /> : <ErrorText text={error} asked={askedBack(part) !== undefined} />)}
      {custom === undefined && options.output && part.result !== null && part.result !== undefined && part.error === null && verdictOf(part) === undefined && !(isWork(part) && part.result === "") && (
        <Result part={part} title={part.answeredBy !== null && pending?.kind !== "permission" ? "Answer" : "Result"} />
      )}
      <End part={part} pending={pending} answer={answer} nameOf={nameOf} state={state} />
    </>
  );
}

// What went wrong; or what is asked before the call is decided.
function ErrorText({ text, asked }: { text: string; asked: boolean }) {
  return (
    <p className={classes("rounded-md px-3 py-2 text-sm whitespace-pre-wrap [overflow-wrap:anywhere]", asked ? "bg-warn-soft text-warn" : "bg-bad-soft text-bad")} dir="auto">
      <LongWords text={text} />
    </p>
  );
}

// A result that says the arguments again is shown alone.
function echoed({ args, result }: ToolPart): boolean {
  if (!isFields(result) || !isFields(args)) return false;
  const names = Object.keys(args);
  return names.length > 0 && names.length < 50 && names.every((n) => JSON.stringify(member(result, n)) === JSON.stringify(args[n]));
}

function Arguments({ part, state, titled, quiet }: { part: ToolPart; state: ToolPart["status"]; titled: boolean; quiet: boolean }) {
  const writing = state === "input_streaming";
  const empty = !isFields(part.args) || Object.keys(part.args).length === 0;
  if (quiet) return null;
  if (isWork(part) && !writing) return <WorkArguments part={part} />;
  return (
    <>
      <Value value={part.args} hint={displayOptions(part).look} titled={titled} />
      {writing && (
        <p role="presentation" className="text-sm text-soft">
          {empty ? "The model is writing the arguments…" : "The model is writing more…"}
        </p>
      )}
    </>
  );
}

// What ran in place of what the model wrote.
function Edited({ part, pending }: Pick<ToolCardProps, "part" | "pending">) {
  const edited = part.editedArgs ?? pending?.editedArgs ?? null;
  if (edited === null) return null;
  return (
    <section aria-label="Edited arguments" className="flex min-w-0 flex-col gap-1 border-l-2 border-accent pl-3">
      <p className="text-sm font-medium text-soft">Edited before it was approved; the tool got:</p>
      <Value value={edited} hint={displayOptions(part).look} />
    </section>
  );
}

function Result({ part, title }: { part: ToolPart; title: string }) {
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <p className="text-sm font-medium text-soft">{title}</p>
      {isWork(part) && typeof part.result === "string" ? <WorkOutput text={part.result} /> : <Value value={part.result} hint={displayOptions(part).look} />}
    </div>
  );
}

function End({ part, pending, answer, nameOf, state }: Pick<ToolCardProps, "part" | "pending" | "answer" | "nameOf"> & { state: ToolPart["status"] }) {
  if (answer !== undefined && state === "requires_action") return <div className="border-line not-first:border-t not-first:pt-3">{answer}</div>;
  if (pending !== undefined && pending.status !== "open") return <Settled pending={pending} nameOf={nameOf} word={deed(part, pending.kind)} />;
  if (state === "requires_action") return <p className="text-sm text-soft">It waits for somebody who may answer it.</p>;
  if (part.answeredBy !== null) {
    return (
      <p className="text-sm text-soft">
        <Words text={nameOf(part.answeredBy)} /> {deed(part, state === "denied" ? "permission" : "client_tool")}
      </p>
    );
  }
  if (state === "interrupted") return <p className="text-sm text-soft">It was cut off: nobody knows whether it had an effect.</p>;
  return null;
}
