// The outcome of a pending action as text.
import { useCallback } from "react";
import type { Part, PendingAction } from "@shoal-dev/client";
import { useEntities } from "@/live/hooks";

/** Returns the name of an entity; its id if it is unknown. */
export function useNames(): (id: string) => string {
  const entities = useEntities();
  return useCallback((id: string) => (id === "system" ? "Shoal" : (entities.find((e) => e.id === id)?.name ?? id)), [entities]);
}

/**
 * The outcome of a pending action: "Ada approved". A permission itself does not say whether
 * it was granted; its part or call does (`denied`). Without `denied` the text only says
 * that it was decided.
 */
export function settledWords(p: PendingAction, name: (id: string) => string, denied?: boolean): string {
  switch (p.status) {
    case "open":
      return p.kind === "permission" ? "waiting for approval" : p.kind === "question" ? "waiting for an answer" : "waiting for a person to act";
    case "expired":
      return "Nobody answered in time";
    case "canceled":
      return "Withdrawn: the run ended first";
    case "answered": {
      const by = p.answeredBy === null ? "An admin or a service" : name(p.answeredBy);
      if (p.kind !== "permission") return `${by} answered`;
      return denied === undefined ? `${by} decided` : `${by} ${denied ? "denied" : "approved"}${p.editedArgs === null ? "" : " with changes"}`;
    }
  }
}

/** Reports whether a part says that its permission was denied; undefined if it does not say. */
export function deniedBy(part: Part | undefined): boolean | undefined {
  if (part === undefined || part.type !== "tool_call" || "private" in part) return undefined;
  return part.status === "requires_action" || part.status === "input_streaming" ? undefined : part.status === "denied";
}
