// The acts of the audit log as words.
import type { AuditRecord } from "./verify";

type Act = AuditRecord["act"];

/** What each act is, after the name of who did it. */
export const actWords: Record<Act, string> = {
  "key.create": "created a key",
  "key.rotate": "rotated a key",
  "key.revoke": "revoked a key",
  "signin.create": "signed in",
  "signin.end": "signed out",
  "push.create": "added a device for notifications",
  "push.delete": "removed a device for notifications",
  "invite.create": "invited a person",
  "invite.delete": "withdrew an invitation",
  "invite.accept": "accepted an invitation",
  "client.register": "registered a program",
  "consent.give": "let a program act as an agent",
  "consent.deny": "refused a program",
  "token.issue": "got a token",
  "token.refresh": "renewed a token",
  "token.revoke": "revoked a token",
  "runner.enroll": "enrolled a runner",
  "runner.remove": "removed a runner",
  "entity.create": "added a participant",
  "entity.update": "changed a participant",
  "entity.delete": "deleted a participant",
  "entity.erase": "erased a participant",
  "session.create": "created a session",
  "session.update": "changed the session",
  "session.close": "closed the session",
  "session.delete": "deleted a session",
  "session.export": "exported the session",
  "session.import": "imported a session",
  "space.create": "created a space",
  "space.close": "closed a space",
  "space.delete": "deleted a space",
  "member.add": "added a member",
  "member.remove": "removed a member",
  "agent.put": "saved an agent",
  "agent.delete": "deleted an agent",
  "approval.answer": "answered a request",
  "approval.forget": "revoked a remembered decision",
  "call.refuse": "was refused",
};

/** The groups of acts by which the log is filtered, by the noun before the point. */
export const groups = [
  ["key", "Keys"],
  ["signin", "Sign-ins"],
  ["push", "Notifications"],
  ["invite", "Invitations"],
  ["client", "Programs that sign in"],
  ["consent", "Consent to programs"],
  ["token", "Tokens of programs"],
  ["entity", "Participants"],
  ["member", "Members of spaces"],
  ["space", "Spaces"],
  ["agent", "Agents"],
  ["approval", "Approvals"],
  ["runner", "Runners"],
  ["session", "The session"],
  ["call", "Refused calls"],
] as const;

/** Who did it. An admin who acts as somebody is the admin. */
export function whoWords(r: Pick<AuditRecord, "role" | "entityId" | "actingAs">): string {
  if (r.entityId !== null) return r.entityId;
  const role = { admin: "An admin", service: "A service", entity: "A participant", server: "The server", nobody: "Somebody without a key" }[r.role];
  return r.actingAs === null ? role : `${role} acting as ${r.actingAs}`;
}

/** One detail of a record: its name and value. */
export function detailWords(name: string, value: string): string {
  const participant = name === "role" && value === "entity";
  return `${name === "entity" ? "participant" : name}: ${participant ? "participant" : value}`;
}

/**
 * Finds the targets that some of the records delete. The function that it returns reports
 * whether the target of a record was deleted by this record or a later one.
 */
export function deletedTargets(records: readonly AuditRecord[]): (r: AuditRecord) => boolean {
  const last = new Map<string, number>();
  const key = (r: AuditRecord, kind = r.target.kind) => JSON.stringify([r.sessionId, kind, r.target.id]);
  for (const r of records) {
    if (!/\.(delete|erase)$/.test(r.act)) continue;
    // The agent of a participant goes with it.
    for (const k of r.target.kind === "entity" ? [key(r), key(r, "agent")] : [key(r)]) last.set(k, Math.max(last.get(k) ?? 0, r.seq));
  }
  return (r) => r.seq <= (last.get(key(r)) ?? 0);
}

/** The first moment of a day, or of the day after it, as the server's filter takes it; the days are those of the reader. */
export function dayBound(day: string, end: boolean): string | undefined {
  const at = new Date(`${day}T00:00`);
  if (day === "" || Number.isNaN(at.getTime())) return undefined;
  if (end) at.setDate(at.getDate() + 1);
  return at.toISOString();
}
