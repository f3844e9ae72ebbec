// Describes the policy of a pending action. Pure functions.
import type { PendingAction } from "@shoal-dev/client";
import { listed } from "@/parts/answer/votes";

const groups: Readonly<Record<string, string>> = {
  humans: "people in the space",
  members: "members of the space",
  agents: "agents in the space",
  services: "services",
  admins: "admins of the session",
};

/** Says who may answer: "Uma or admins of the session, but not the requesters (Ada)." */
export function policyWords(p: Pick<PendingAction, "by" | "kind" | "spaceId" | "notRequester" | "requesters">, name: (id: string) => string): string {
  const named = p.by?.map((b) => (Object.hasOwn(groups, b) ? (groups[b] ?? b) : name(b)));
  const usual = p.kind !== "permission" ? "members of the space" : p.spaceId === null ? "the requesters and the agent's owner" : "people in the space that the call names, or without one the requesters and the agent's owner";
  const who = named === undefined ? usual : listed(named);
  const not = !p.notRequester ? "" : `, but not the requesters${p.requesters.length === 0 ? "" : ` (${listed(p.requesters.map(name))})`}`;
  return `${who.slice(0, 1).toUpperCase()}${who.slice(1)}${not}.`;
}
