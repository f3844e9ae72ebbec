// One answer on its way: what is sent, what the server says to it.
import { useState } from "react";
import { type PendingAction, ShoalError } from "@shoal-dev/client";
import { type Faults } from "./draft";
import { faultsOf } from "./faults";

const none: Faults = new Map();

/** How an answer is handed in: the body is JSON text. Throws a ShoalError. */
export type Submit = (body: string) => Promise<PendingAction>;

export interface Answering {
  /** An answer is on its way. */
  readonly busy: boolean;
  /** An error of the server that does not belong to a field. */
  readonly problem: ShoalError | undefined;
  /** Somebody else was first, or it is too late: not an error of the reader's. */
  readonly late: ShoalError | undefined;
  readonly faults: Faults;
  /** The action after this reader's answer, as the server returned it. */
  readonly after: PendingAction | undefined;
  readonly send: (body: string) => Promise<void>;
  readonly setFaults: (faults: Faults) => void;
  /** Forgets what was answered, so that the reader can answer differently. */
  readonly again: () => void;
}

/** Keeps track of the answer to one pending action. */
export function useAnswering(submit: Submit): Answering {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<ShoalError>();
  const [faults, setFaults] = useState(none);
  const [after, setAfter] = useState<PendingAction>();
  const send = async (body: string) => {
    if (busy) return;
    setBusy(true);
    setProblem(undefined);
    setFaults(none);
    try {
      setAfter(await submit(body));
    } catch (thrown) {
      const p = inWords(ShoalError.from(thrown));
      setProblem(p);
      if (p.status === 422) setFaults(faultsOf(p));
    } finally {
      setBusy(false);
    }
  };
  const isLate = problem !== undefined && (problem.code === "already_answered" || problem.status === 410);
  const isFault = problem?.status === 422 && faults.size > 0;
  return { busy, problem: isLate || isFault ? undefined : problem, late: isLate ? problem : undefined, faults, after, send, setFaults, again: () => setAfter(undefined) };
}

// What the reader did not cause, in words that say what became of the answer.
function inWords(p: ShoalError): ShoalError {
  const words =
    p.code === "args_changed"
      ? "The arguments of this call have changed since this page loaded. Your answer was not recorded. Reload the page and review them."
      : p.code === "already_answered"
        ? "Someone else answered first. Your answer was not recorded."
        : p.status === 410
          ? "Too late: the request has expired or its run has ended. Your answer was not recorded."
          : undefined;
  return words === undefined ? p : new ShoalError(p.status, p.code, words, p);
}
