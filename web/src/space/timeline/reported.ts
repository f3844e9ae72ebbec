// The failed runs that the server itself reports in a space, in a message of its own. It
// posts one for each agent and cause until a run of the agent succeeds, not one for each run.
import type { Message, Run } from "@shoal-dev/client";
import type { RunsHere } from "../runs-here";

/** Failed runs by the id of the server's message about them, among `messages`. Pure. */
export function reported(failed: RunsHere["failed"], messages: readonly Message[]): ReadonlyMap<string, Run> {
  // The server ends a run and posts the message in one transaction, whose time both have.
  const byEnd = new Map([...failed.values()].flat().map((r) => [r.endedAt, r]));
  return new Map(
    messages.flatMap((m) => {
      const run = m.entityId === "system" && m.mentions.length > 0 ? byEnd.get(m.createdAt) : undefined;
      return run === undefined ? [] : [[m.id, run] as const];
    }),
  );
}
