// How a pending action ended, in words.
import { useCallback } from "react";
import type { Part, PendingAction } from "@/client/types";
import { useEntities } from "@/live/hooks";

/** The names of entities by their ids; the id itself of one that is not known. */
export function useNames(): (id: string) => string {
  const entities = useEntities();
  return useCallback((id: string) => (id === "system" ? "Shoal" : (entities.find((e) => e.id === id)?.name ?? id)), [entities]);
}

/**
 * What became of a pending action: "Ada approved". A permission does not say itself
 * whether it was given; `denied` does, from the part or the call that it was for;
 * left out, it is only said to be answered.
 */
export function settledWords(p: PendingAction, name: (id: string) => string, denied?: boolean): string {
  switch (p.status) {
    case "open":
      return p.kind === "permission" ? "waits for a permission" : p.kind === "question" ? "waits for an answer" : "waits for somebody to act";
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

/** Whether a part says that its permission was denied; undefined where it does not tell. */
export function deniedBy(part: Part | undefined): boolean | undefined {
  if (part === undefined || part.type !== "tool_call" || "private" in part) return undefined;
  return part.status === "requires_action" || part.status === "input_streaming" ? undefined : part.status === "denied";
}
