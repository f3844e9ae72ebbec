// Where a coding agent runs, on its own page.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useConsole } from "@/app/console";
import { runnersQuery } from "./queries";

/** The machines on which an agent runs, linked; nothing for an agent that runs on none. */
export function RunnerNote({ agent }: { agent: string }) {
  const { session } = useConsole();
  const on = (useQuery(runnersQuery(session)).data ?? []).flatMap((r) => r.agents.filter((a) => a.agentId === agent).map((a) => ({ id: r.id, online: a.online })));
  if (on.length === 0) return null;
  return (
    <span className="text-sm">
      on{" "}
      {on.map(({ id, online }, i) => (
        <span key={id}>
          {i > 0 && ", "}
          <Link to="/s/$session/runners" params={{ session }} className="text-accent underline">
            {id}
          </Link>
          {!online && " (offline)"}
        </span>
      ))}
    </span>
  );
}
