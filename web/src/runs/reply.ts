// What a run waits for that nobody answers with an action.
import type { Run } from "@shoal-dev/client";

/** In words, as in "waits for …", with the names of entities. */
export function awaitedReply({ waitingFor }: Pick<Run, "waitingFor">, name: (id: string) => string): string {
  if (waitingFor === null) return "a reply in another space"; // where the reader may not be
  if (waitingFor.spaceId === null) return "a time";
  const whom = waitingFor.from.map((f) => (f.entityId !== null ? name(f.entityId) : f.type === "human" ? "a person" : f.type === "agent" ? "an agent" : "anybody"));
  return `a reply from ${whom.join(" or ")}`;
}
