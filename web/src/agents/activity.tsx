// What a hosted agent does now. The server runs it, so that it is online says nothing.
import { useEntity } from "@/live/hooks";
import { EntityState } from "@/ui/state";

/** The state of a hosted agent, where it says more than that the server runs it. */
export function Activity({ agent }: { agent: string }) {
  const entity = useEntity(agent);
  return entity === undefined || entity.state === "connected" ? null : <EntityState state={entity.state} />;
}
