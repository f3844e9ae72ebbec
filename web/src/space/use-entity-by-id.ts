// Finds the entities of the session by their ids.
import { useMemo } from "react";
import type { Entity } from "@shoal-dev/client";
import { useEntities } from "@/live/hooks";

/** Returns a function that finds an entity in constant time; it stays the same until an entity changes. */
export function useEntityById(): (id: string) => Entity | undefined {
  const entities = useEntities();
  return useMemo(() => {
    const byId = new Map(entities.map((e) => [e.id, e]));
    return (id) => byId.get(id);
  }, [entities]);
}
