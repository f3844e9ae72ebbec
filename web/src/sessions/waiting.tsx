// The participants that wait, the participants they wait for, and the remaining time.
import { Link } from "@tanstack/react-router";
import { Clock, Hand } from "lucide-react";
import { useEntities, useName, usePending, useRuns, useSpaces } from "@/live/hooks";
import { duration, Since, useNow } from "@/ui/time";
import { type Wait, waits } from "./waits";

/** The waits of the session of the surrounding store. */
export function Waiting({ session }: { session: string }) {
  const entities = useEntities();
  const runs = useRuns();
  const pending = usePending();
  const spaces = useSpaces();
  const found = waits({ entities, runs, pending, spaces });
  if (found.length === 0) return <p className="text-soft">Nobody is waiting.</p>;
  return (
    <ul className="divide-y divide-line overflow-hidden rounded-lg border border-line bg-surface">
      {found.map((w) => (
        <WaitRow key={w.id} session={session} wait={w} />
      ))}
    </ul>
  );
}

function WaitRow({ session, wait }: { session: string; wait: Wait }) {
  const who = useName(wait.who);
  const Icon = wait.run === null ? Clock : Hand;
  return (
    <li className="flex flex-wrap items-baseline gap-x-3 gap-y-1 px-4 py-2.5">
      <Icon aria-hidden className="size-4 shrink-0 self-center text-warn" />
      <span className="min-w-0 flex-1 basis-64 break-words">
        <strong>{who}</strong> waits for {wait.what}
        {wait.times > 1 && ` (${wait.times} times)`}
        {wait.whom.length > 0 && (
          <>
            {" "}
            from <Names of={wait.whom} />
          </>
        )}
      </span>
      <span className="text-sm whitespace-nowrap text-soft">
        {wait.endsAt !== null ? <Left until={wait.endsAt} /> : wait.since !== null ? <>for <Since at={wait.since} /></> : null}
      </span>
      {wait.run !== null && (
        <Link to="/s/$session/runs/$run" params={{ session, run: wait.run }} className="text-sm text-accent underline">
          run
        </Link>
      )}
    </li>
  );
}

/** The time left until a moment. */
export function Left({ until }: { until: string }) {
  const left = Date.parse(until) - useNow();
  return <span className="tabular-nums">{left > 0 ? `${duration(Math.ceil(left / 1000) * 1000)} left` : "time is up"}</span>;
}

function Names({ of }: { of: readonly string[] }) {
  return (
    <>
      {of.map((id, i) => (
        <span key={id}>
          {i > 0 && (i === of.length - 1 ? " or " : ", ")}
          <Name of={id} />
        </span>
      ))}
    </>
  );
}

function Name({ of }: { of: string }) {
  return <>{useName(of)}</>;
}
