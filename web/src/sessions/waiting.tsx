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
    <li className="flex gap-3 px-4 py-2.5">
      <Icon aria-hidden className="mt-1 size-4 shrink-0 text-warn" />
      <div className="min-w-0 flex-1">
        <p className="break-words">
          <strong>{who}</strong> waits for {wait.what}
          {wait.times > 1 && ` ×${wait.times}`}
        </p>
        <p className="flex flex-wrap gap-x-3 text-sm text-soft">
          {wait.where !== null && <span className="min-w-0 break-words">in {wait.where}</span>}
          {wait.whom.length > 0 && (
            <span className="min-w-0 break-words">
              <Names of={wait.whom} /> can answer
            </span>
          )}
          {wait.since !== null && <span>for <Since at={wait.since} /></span>}
          {wait.endsAt !== null && <Left until={wait.endsAt} />}
          {wait.run !== null && (
            <Link to="/s/$session/runs/$run" params={{ session, run: wait.run }} className="text-accent underline">
              Open run
            </Link>
          )}
        </p>
      </div>
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
