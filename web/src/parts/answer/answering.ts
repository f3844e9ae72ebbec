// One answer on its way: what is sent, what the server says to it.
import { useState } from "react";
import { Problem } from "@/api/problem";
import type { PendingAction } from "@/api/shapes";
import { type Faults } from "./draft";
import { faultsOf } from "./faults";

const none: Faults = new Map();

/** How an answer is handed in: the body is JSON text. Throws a Problem. */
export type Submit = (body: string) => Promise<PendingAction>;

export interface Answering {
  /** An answer is on its way. */
  readonly busy: boolean;
  /** What the server refused, that is no fault of a field. */
  readonly problem: Problem | undefined;
  /** Somebody else was first, or it is too late: not an error of the reader's. */
  readonly late: Problem | undefined;
  readonly faults: Faults;
  /** The action after this reader's answer, as the server told it. */
  readonly after: PendingAction | undefined;
  readonly send: (body: string) => Promise<void>;
  readonly setFaults: (faults: Faults) => void;
}

/** Keeps track of the answer to one pending action. */
export function useAnswering(submit: Submit): Answering {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem>();
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
      const p = Problem.from(thrown);
      setProblem(p);
      if (p.status === 422) setFaults(faultsOf(p));
    } finally {
      setBusy(false);
    }
  };
  const isLate = problem !== undefined && (problem.code === "already_answered" || problem.status === 410);
  const isFault = problem?.status === 422 && faults.size > 0;
  return { busy, problem: isLate || isFault ? undefined : problem, late: isLate ? problem : undefined, faults, after, send, setFaults };
}
