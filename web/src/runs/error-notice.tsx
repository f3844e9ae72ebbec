// Why a run failed or was stopped, and what to do about it.
import type { ReactNode } from "react";
import type { Run } from "@shoal-dev/client";
import { classes } from "@/ui/classes";
import { errorHelp } from "./words";

/** The error of a run in words; nothing for a run without one. */
export function ErrorNotice({ run, action }: { run: Run; action?: ReactNode }) {
  if (run.error === null) return null;
  const { happened, todo } = errorHelp(run.error.code);
  const bad = run.status === "failed";
  return (
    <div className={classes("rounded-lg border p-3", bad ? "border-bad bg-bad-soft" : "border-line bg-sunken")}>
      <p className={classes("font-medium", bad && "text-bad")}>{happened}</p>
      <p className="mt-1 text-sm break-words">
        {run.error.message} <code className="text-xs text-soft">{run.error.code}</code>
      </p>
      <div className="mt-2 flex flex-wrap items-center gap-3 text-sm">
        <p className="min-w-0">
          {todo}
          {run.error.retryable && " The server thinks that a second try may work."}
        </p>
        {action}
      </div>
    </div>
  );
}
