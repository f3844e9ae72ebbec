// What answers a pending action: always drawn by the console itself, outside of any
// frame, so that no renderer can put words into anybody's mouth.
import { Clock, Info } from "lucide-react";
import { type RefObject, useEffect, useState } from "react";
import type { PendingAction } from "@shoal-dev/client";
import { duration, Moment, useNow } from "@/ui/time";
import { Value } from "../renderers/value";
import { Words } from "../words/words";
import { Button } from "@/ui/button";
import { CheckField } from "@/ui/field";
import { useFocusKept } from "@/ui/focus";
import { onDemand } from "@/ui/on-demand";
import { type Answering, type Submit, useAnswering } from "./answering";
import { boundBody, resultBody } from "./body";
import { PermissionAnswer } from "./permission";
import { QuestionAnswer } from "./question";
import { ResultAnswer } from "./result";
import { decided, inside, listed, saidBy } from "./votes";

const VotesOf = onDemand(() => import("./tally").then((m) => m.VotesOf));

/** What a custom renderer proposes as the result. The reader decides. */
export interface Proposal {
  readonly value: unknown;
  readonly drop: () => void;
}

export interface AnswerProps {
  readonly pending: PendingAction;
  /** Why nothing can be answered now; undefined when it can. */
  readonly blocked?: string | undefined;
  /** Why the reader may not answer it; undefined when it may. */
  readonly refused?: string | undefined;
  readonly submit: Submit;
  /** The name of an entity. */
  readonly nameOf: (entity: string) => string;
  readonly proposal?: Proposal | undefined;
  /** The entity that the reader acts as; null for none. */
  readonly me?: string | null;
  /** How many other open calls are equal: one answer can settle them all. */
  readonly equal?: number;
}

/** The question, the controls that answer it, and afterwards who answered. */
export function Answer({ pending, blocked, refused, submit, nameOf, proposal, me = null, equal = 0 }: AnswerProps) {
  const [alsoEqual, setAlsoEqual] = useState(false);
  const [changing, setChanging] = useState(false);
  const bound = useAnswering((body) => submit(boundBody(body, pending.argsHash, alsoEqual && equal > 0)));
  const answering = { ...bound, send: (body: string) => bound.send(body).finally(() => setChanging(false)) };
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
  // The stream may say it before the answer of the server is here, or after.
  const counted = after !== undefined && after.votes.length > pending.votes.length ? after : pending;
  const voted = after !== undefined || (me !== null && counted.votes.some((v) => v.entityId === me));
  if (refused !== undefined) return <Waiting pending={counted} nameOf={nameOf} why={refused} />;
  if (voted && !changing) return <Voted pending={counted} nameOf={nameOf} change={() => (answering.again(), setChanging(true))} disabled={blocked !== undefined} />;
  const both = equal > 0 && <CheckField label={equal === 1 ? "Also answer the other identical call" : `Also answer the ${equal} other identical calls`} checked={alsoEqual} disabled={blocked !== undefined || answering.busy} onChange={(e) => setAlsoEqual(e.target.checked)} />;
  return <Open pending={counted} blocked={blocked} proposal={proposal} answering={answering} nameOf={nameOf} me={me} both={both} />;
}

// One vote of several is given: what is missing, and the way to another vote.
function Voted({ pending, nameOf, change, disabled }: { pending: PendingAction; nameOf: (entity: string) => string; change: () => void; disabled: boolean }) {
  return (
    <div className="flex flex-col gap-3">
      <Votes pending={pending} nameOf={nameOf} />
      <Note>Vote recorded. The call continues when enough others give the same answer.</Note>
      <Button small className="w-fit" disabled={disabled} onClick={change}>
        Change your vote
      </Button>
    </div>
  );
}

// Shown to those who only see that others have to decide.
function Waiting({ pending, nameOf, why }: { pending: PendingAction; nameOf: (entity: string) => string; why: string }) {
  return (
    <div className="flex flex-col gap-3">
      {pending.question !== null && <Question text={pending.question} />}
      <Requesters pending={pending} nameOf={nameOf} />
      <Votes pending={pending} nameOf={nameOf} />
      <Note>{why}</Note>
      {pending.expiresAt !== null && <Expiry at={pending.expiresAt} />}
    </div>
  );
}

function Question({ text }: { text: string }) {
  return (
    <p className="font-medium whitespace-pre-wrap [overflow-wrap:anywhere]" dir="auto">
      <Words text={text} />
    </p>
  );
}

// Nothing where one answer settles it.
function Votes({ pending, nameOf }: { pending: PendingAction; nameOf: (entity: string) => string }) {
  if (pending.quorum < 2 || pending.status !== "open") return null;
  return <VotesOf pending={pending} nameOf={nameOf} />;
}

// For whom the agent asks.
function Requesters({ pending, nameOf }: { pending: PendingAction; nameOf: (entity: string) => string }) {
  if (pending.requesters.length === 0 || (pending.kind !== "permission" && !pending.notRequester)) return null;
  return (
    <p className="text-sm text-soft">
      Asked for by <Words text={listed(pending.requesters.map(nameOf).map(inside))} />
      {pending.notRequester && "; somebody else has to answer"}.
    </p>
  );
}

interface OpenProps {
  readonly pending: PendingAction;
  readonly blocked: string | undefined;
  readonly proposal: Proposal | undefined;
  readonly answering: Answering;
  readonly nameOf: (entity: string) => string;
  readonly me: string | null;
  /** What extends the answer to equal calls. */
  readonly both: React.ReactNode;
}

function Open({ pending, blocked, proposal, answering, nameOf, me, both }: OpenProps) {
  const expired = useExpired(pending.expiresAt);
  const disabled = blocked !== undefined || expired;
  const props = { pending, answering, disabled };
  const kept = useFocusKept<HTMLDivElement>();
  useFocusOnFault(answering, kept.ref);
  return (
    <div {...kept} className="flex flex-col gap-3">
      {pending.question !== null && <Question text={pending.question} />}
      {proposal !== undefined && pending.kind === "client_tool" && (
        <div className="flex flex-col gap-2 rounded-md border border-accent p-3">
          <p className="font-medium">The card proposes this answer:</p>
          <Value value={proposal.value} hint="json" />
          <div className="flex flex-wrap gap-2">
            <Button tone="primary" disabled={disabled || answering.busy} onClick={() => void answering.send(resultBody(JSON.stringify(proposal.value)))}>
              Send this answer
            </Button>
            <Button onClick={proposal.drop}>Don't send</Button>
          </div>
        </div>
      )}
      <Requesters pending={pending} nameOf={nameOf} />
      <Votes pending={pending} nameOf={nameOf} />
      {both}
      {pending.kind === "permission" && <PermissionAnswer {...props} nameOf={nameOf} me={me} />}
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
      {left > 0 ? `Expires in ${duration(left)}, then counts as denied.` : "Expired: counts as denied."}
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
  if (pending.status === "expired") return <Note>Expired without an answer: counts as denied.</Note>;
  if (pending.status === "canceled") return <Note>Not answered: the run has ended.</Note>;
  return (
    <Note>
      <Words text={whoAnswered(pending, nameOf)} /> {decided(pending.decision) ?? word}
      {pending.editedArgs !== null && " with changes"}
      {pending.answeredAt !== null && (
        <>
          , <Moment at={pending.answeredAt} />
        </>
      )}
    </Note>
  );
}

/** All who gave the answer that counts, the last one at the end. */
export function whoAnswered({ answeredBy, quorum, votes }: PendingAction, nameOf: (entity: string) => string): string {
  if (answeredBy === null) return "A service or an admin";
  const last = votes.find((v) => v.entityId === answeredBy);
  const before = quorum < 2 || last === undefined ? [] : votes.filter((v) => v !== last && saidBy(v) === saidBy(last)).map((v) => v.entityId);
  return listed([...before, answeredBy].map(nameOf));
}
