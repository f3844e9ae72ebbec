// One call that somebody asked for: whether it is under way, and what went wrong.
import { useCallback, useState } from "react";
import { ShoalError } from "@shoal-dev/client";

export interface Action {
  readonly busy: boolean;
  readonly problem: ShoalError | undefined;
  /** Makes the call; returns whether it succeeded. */
  run(call: () => Promise<unknown>): Promise<boolean>;
}

export function useAction(): Action {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<ShoalError>();
  const run = useCallback(async (call: () => Promise<unknown>) => {
    setBusy(true);
    setProblem(undefined);
    try {
      await call();
      return true;
    } catch (error) {
      setProblem(ShoalError.from(error));
      return false;
    } finally {
      setBusy(false);
    }
  }, []);
  return { busy, problem, run };
}
