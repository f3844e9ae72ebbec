// Checks the chain of hashes of an audit log, as `shoal audit verify` does.
import type { components } from "@shoal-dev/client";

export type AuditRecord = components["schemas"]["AuditRecord"];
type Head = components["schemas"]["AuditHead"];

/** What a check has found: how many records the log has, and the broken place with the lowest number, if one is broken. */
export interface Verdict {
  readonly records: number;
  readonly problem?: string;
}

/** A page of a log, the newest record first. */
export interface AuditPage {
  readonly items: readonly AuditRecord[];
  readonly nextCursor: string | null;
  readonly head: Head;
}

/** Whether this page may compute hashes: browsers allow that over TLS and on the machine of the server. */
export const verifies = (): boolean => typeof crypto !== "undefined" && "subtle" in crypto;

/** Reads a whole log and checks that each record has its hash and names that of the record before. */
export async function verify(read: (cursor: string | undefined) => Promise<AuditPage>): Promise<Verdict> {
  let records = 0;
  let problem: string | undefined;
  let expected: { seq: number; hash: string } | undefined;
  for (let cursor: string | undefined, more = true; more; ) {
    const page = await read(cursor);
    expected ??= { ...page.head };
    for (const r of page.items) {
      // Records that were added while the log is read are after the head that the check began with.
      if (records === 0 && r.seq > expected.seq) expected = { seq: r.seq, hash: "" };
      if (r.seq < expected.seq) {
        problem = range(r.seq + 1, expected.seq, "removed");
        expected = { seq: r.seq, hash: "" };
      }
      const whole = (await hashOf(r)) === r.hash;
      if (r.seq > expected.seq) problem = range(r.seq, r.seq, "added");
      else if (!whole) problem = range(r.seq, r.seq, "altered");
      else if (expected.hash !== "" && expected.hash !== r.hash) problem = range(r.seq, r.seq, "replaced");
      expected = { seq: r.seq - 1, hash: whole ? r.prevHash : "" };
      records++;
    }
    more = page.nextCursor !== null;
    cursor = page.nextCursor ?? undefined;
  }
  if (expected !== undefined && expected.seq > 0) problem = range(1, expected.seq, "removed");
  return problem === undefined ? { records } : { records, problem };
}

const range = (from: number, to: number, what: string): string => (from === to ? `Record ${from} was ${what}.` : `Records ${from} to ${to} were ${what}.`);

// The SHA-256 of the record as the server has written it, with an empty hash. Its JSON escapes two
// characters that JavaScript does not.
async function hashOf(r: AuditRecord): Promise<string> {
  const text = JSON.stringify({ ...r, hash: "" }).replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");
  const sum = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return [...new Uint8Array(sum)].map((b) => b.toString(16).padStart(2, "0")).join("");
}
