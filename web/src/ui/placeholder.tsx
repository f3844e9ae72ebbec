// What a page shows instead of its content: empty, loading, an error.
import { useEffect, useState, type ReactNode } from "react";
import { ShoalError } from "@shoal-dev/client";
import { Button } from "./button";

/** The empty state: one sentence, one action, and what does the same on the command line. */
export function Empty({ title, children, action, command }: { title: string; children?: ReactNode; action?: ReactNode; command?: string | undefined }) {
  return (
    <div className="mx-auto flex max-w-md flex-col items-center gap-3 px-6 py-16 text-center">
      <h2 className="text-lg font-semibold">{title}</h2>
      {children !== undefined && <div className="text-soft">{children}</div>}
      {action !== undefined && <div className="[&>a]:inline-flex [&>a]:min-h-9 [&>a]:items-center touch:[&>a]:min-h-11">{action}</div>}
      {command !== undefined && (
        <p className="text-sm text-soft">
          On the command line: <code className="inline-block rounded-md bg-sunken px-2 py-1">{command}</code>
        </p>
      )}
    </div>
  );
}

/** Grey lines, after 150 ms, so that fast content does not flicker. */
export function Loading({ lines = 4, label = "Loading" }: { lines?: number; label?: string }) {
  const [late, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), 150);
    return () => clearTimeout(timer);
  }, []);
  if (!late) return null;
  return (
    <div role="status" className="flex flex-col gap-3 p-5">
      <span className="sr-only">{label}</span>
      {Array.from({ length: lines }, (_, i) => (
        <div key={i} className="h-4 animate-pulse rounded bg-line" style={{ width: `${90 - ((i * 17) % 45)}%` }} />
      ))}
    </div>
  );
}

/** The error in the server's words, and a button to try again. */
export function Failed({ error, retry }: { error: unknown; retry?: () => void }) {
  const problem = ShoalError.from(error);
  return (
    <div role="alert" className="m-4 flex flex-col items-start gap-2 rounded-lg border border-bad bg-bad-soft p-4">
      <p className="font-medium text-bad">{problem.message}</p>
      {problem.fields.length > 0 && (
        <ul className="list-disc pl-5 text-sm">
          {problem.fields.map((f, i) => (
            <li key={i}>
              <code>{f.location}</code>: {f.message}
            </li>
          ))}
        </ul>
      )}
      {/* Only what is not the reader's to mend is worth asking an operator about. */}
      {problem.status >= 500 && problem.requestId !== "" && (
        <p className="text-sm text-soft">
          Request <code>{problem.requestId}</code>
        </p>
      )}
      {retry !== undefined && (
        <Button small onClick={retry}>
          Try again
        </Button>
      )}
    </div>
  );
}
