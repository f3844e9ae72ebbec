// What answers a pending action: always drawn by the console itself, outside of any
// frame, so that no renderer can put words into anybody's mouth.
import { Clock, Info } from "lucide-react";
import { type RefObject, useEffect } from "react";
import type { PendingAction } from "@/api/shapes";
import { duration, Moment, useNow } from "@/ui/time";
import { Value } from "../renderers/value";
import { Words } from "../words/words";
import { Button } from "@/ui/button";
import { useFocusKept } from "@/ui/focus";
import { type Answering, type Submit, useAnswering } from "./answering";
import { resultBody } from "./body";
import { PermissionAnswer } from "./permission";
import { QuestionAnswer } from "./question";
import { ResultAnswer } from "./result";

/** What a custom renderer proposes as the result. The reader decides. */
export interface Proposal {
  readonly value: unknown;
  readonly drop: () => void;
}

export interface AnswerProps {
  readonly pending: PendingAction;
  /** Why nothing can be answered now; undefined when it can. */
  readonly blocked?: string | undefined;
  readonly submit: Submit;
  /** The name of an entity. */
  readonly nameOf: (entity: string) => string;
  readonly proposal?: Proposal | undefined;
}

/** The question, the controls that answer it, and afterwards who answered. */
export function Answer({ pending, blocked, submit, nameOf, proposal }: AnswerProps) {
  const answering = useAnswering(submit);
  const { after, late } = answering;
  const now = pending.status === "open" && after !== undefined ? after : pending;
  if (now.status !== "open") return <Settled pending={now} nameOf={nameOf} />;
  if (late !== undefined) {
    return (
      <Note>
        <Words text={late.message} />
      </Note>
    );
  }
  if (after !== undefined) return <Note>Your approval counts. It goes on when others have approved as well.</Note>;
  return <Open pending={pending} blocked={blocked} proposal={proposal} answering={answering} />;
}

function Open({ pending, blocked, proposal, answering }: { pending: PendingAction; blocked: string | undefined; proposal: Proposal | undefined; answering: Answering }) {
  const expired = useExpired(pending.expiresAt);
  const disabled = blocked !== undefined || expired;
  const props = { pending, answering, disabled };
  const kept = useFocusKept<HTMLDivElement>();
  useFocusOnFault(answering, kept.ref);
  return (
    <div {...kept} className="flex flex-col gap-3">
      {pending.question !== null && (
        <p className="font-medium whitespace-pre-wrap [overflow-wrap:anywhere]" dir="auto">
          <Words text={pending.question} />
        </p>
      )}
      {proposal !== undefined && pending.kind === "client_tool" && (
        <div className="flex flex-col gap-2 rounded-md border border-accent p-3">
          <p className="font-medium">The card proposes this answer:</p>
          <Value value={proposal.value} hint="json" />
          <div className="flex flex-wrap gap-2">
            <Button tone="primary" disabled={disabled || answering.busy} onClick={() => void answering.send(resultBody(JSON.stringify(proposal.value)))}>
              Send this answer
            </Button>
            <Button onClick={proposal.drop}>Do not send it</Button>
          </div>
        </div>
      )}
      {pending.kind === "permission" && <PermissionAnswer {...props} />}
      {pending.kind === "question" && <QuestionAnswer {...props} />}
      {pending.kind === "client_tool" && <ResultAnswer {...props} />}
      {answering.problem !== undefined && (
        <p role="alert" className="text-sm text-bad">
          <Words text={answering.problem.message} />
        </p>
      )}
      {blocked !== undefined && <Note>{blocked}</Note>}
      {pending.expiresAt !== null && <Expiry at={pending.expiresAt} />}
    </div>
  );
}

// The first field that is wrong gets the focus, and so is read out with the reason.
function useFocusOnFault({ faults }: Answering, form: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    if (faults.size > 0) form.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus();
  }, [faults, form]);
}

function useExpired(at: string | null): boolean {
  const now = useNow(at === null ? 3_600_000 : 1000);
  return at !== null && Date.parse(at) <= now;
}

function Expiry({ at }: { at: string }) {
  const left = Date.parse(at) - useNow();
  return (
    <p className="inline-flex items-center gap-1.5 text-sm text-soft">
      <Clock aria-hidden className="size-3.5" />
      {left > 0 ? `Expires in ${duration(left)}; then it counts as denied.` : "It has expired and counts as denied."}
    </p>
  );
}

function Note({ children }: { children: React.ReactNode }) {
  return (
    <p role="status" className="inline-flex items-start gap-1.5 text-sm text-soft">
      <Info aria-hidden className="mt-0.5 size-4 shrink-0" />
      <span>{children}</span>
    </p>
  );
}

/** Who answered, and when; or why nobody can any more. */
export function Settled({ pending, nameOf, word = "answered" }: { pending: PendingAction; nameOf: (entity: string) => string; word?: string }) {
  if (pending.status === "expired") return <Note>It has expired: nobody answered in time, which counts as denied.</Note>;
  if (pending.status === "canceled") return <Note>Nobody answered: the run is over.</Note>;
  return (
    <Note>
      <Words text={pending.answeredBy === null ? "A service or an admin" : nameOf(pending.answeredBy)} /> {word}
      {pending.answeredAt !== null && (
        <>
          , <Moment at={pending.answeredAt} />
        </>
      )}
    </Note>
  );
}
