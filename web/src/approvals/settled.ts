// The outcome of a pending action as text.
import { useCallback } from "react";
import type { PendingAction } from "@shoal-dev/client";
import { useEntities } from "@/live/hooks";
import { decided } from "@/parts/answer/votes";

/** Returns the name of an entity; its id if it is unknown. */
export function useNames(): (id: string) => string {
  const entities = useEntities();
  return useCallback((id: string) => (id === "system" ? "Shoal" : (entities.find((e) => e.id === id)?.name ?? id)), [entities]);
}

/** The outcome of a pending action: "Ada approved". */
export function settledWords(p: PendingAction, name: (id: string) => string): string {
  switch (p.status) {
    case "open":
      return p.kind === "permission" ? "waiting for approval" : p.kind === "question" ? "waiting for an answer" : "waiting for a person to act";
    case "expired":
      return "Nobody answered in time";
    case "canceled":
      return "Withdrawn: the run ended first";
    case "answered": {
      const by = p.answeredBy === null ? "An admin or a service" : name(p.answeredBy);
      return `${by} ${decided(p.decision) ?? "answered"}${p.editedArgs === null ? "" : " with changes"}`;
    }
  }
}
