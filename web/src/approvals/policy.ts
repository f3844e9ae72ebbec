// A pending action's policy in words. Pure.
import type { PendingAction } from "@/client/types";
import { listed } from "@/parts/answer/votes";

const groups: Readonly<Record<string, string>> = {
  humans: "people in the space",
  members: "members of the space",
  agents: "agents in the space",
  services: "services",
  admins: "admins of the session",
};

/** Who may answer, as the tool's policy says: "Uma or admins of the session, but not those who asked for it (Ada)." */
export function policyWords(p: Pick<PendingAction, "by" | "kind" | "spaceId" | "notRequester" | "requesters">, name: (id: string) => string): string {
  const named = p.by?.map((b) => (Object.hasOwn(groups, b) ? (groups[b] ?? b) : name(b)));
  const usual = p.kind !== "permission" ? "members of the space" : p.spaceId === null ? "those who asked for it and the agent's owner" : "people in the space that the call names; without one, those who asked for it and the agent's owner";
  const who = named === undefined ? usual : listed(named);
  const not = !p.notRequester ? "" : `, but not those who asked for it${p.requesters.length === 0 ? "" : ` (${listed(p.requesters.map(name))})`}`;
  return `${who.slice(0, 1).toUpperCase()}${who.slice(1)}${not}.`;
}
