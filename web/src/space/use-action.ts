// One call that somebody asked for: whether it is under way, and what went wrong.
import { useCallback, useState } from "react";
import { Problem } from "@shoal-dev/client";

export interface Action {
  readonly busy: boolean;
  readonly problem: Problem | undefined;
  /** Makes the call; returns whether it succeeded. */
  run(call: () => Promise<unknown>): Promise<boolean>;
}

export function useAction(): Action {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem>();
  const run = useCallback(async (call: () => Promise<unknown>) => {
    setBusy(true);
    setProblem(undefined);
    try {
      await call();
      return true;
    } catch (error) {
      setProblem(Problem.from(error));
      return false;
    } finally {
      setBusy(false);
    }
  }, []);
  return { busy, problem, run };
}
