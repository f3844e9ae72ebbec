// The chain of an audit log, as a server has written it.
import { describe, expect, test } from "vitest";
import { type AuditRecord, verify } from "./verify";
import { dayBound, deletedTargets, detailWords, whoWords } from "./words";

const log: readonly AuditRecord[] = [
  {"sessionId": "default", "seq": 4, "at": "2026-11-28T02:47:29.630Z", "act": "space.create", "decision": "allowed", "role": "admin", "keyId": "local", "signInId": "", "entityId": null, "actingAs": "operator", "target": {"kind": "space", "id": "purchasing"}, "details": {"members": "2"}, "address": "", "requestId": "", "count": 1, "prevHash": "0f80238860eb1eb6dd7f51c3152b18eb71e864b901cbbc933abdebdcb7fe9abf", "hash": "719272202f4061fc3395181e3342e2b3ff404829caff19a0a0ab41815a829968"},
  {"sessionId": "default", "seq": 3, "at": "2026-11-28T02:47:29.625Z", "act": "space.create", "decision": "allowed", "role": "admin", "keyId": "local", "signInId": "", "entityId": null, "actingAs": "operator", "target": {"kind": "space", "id": "welcome"}, "details": {"members": "2"}, "address": "", "requestId": "", "count": 1, "prevHash": "91106b7b732d4815a9c7f88a48067c53eac0944c18deb58c062421619b193370", "hash": "0f80238860eb1eb6dd7f51c3152b18eb71e864b901cbbc933abdebdcb7fe9abf"},
  {"sessionId": "default", "seq": 2, "at": "2026-11-28T02:47:29.602Z", "act": "agent.put", "decision": "allowed", "role": "admin", "keyId": "local", "signInId": "", "entityId": null, "actingAs": null, "target": {"kind": "agent", "id": "shop-agent"}, "details": {"hash": "a9d03d4a46f1297a282d38c34e6a2b1facfac0259731fc75b5bd58cf4c25039d", "version": "1"}, "address": "", "requestId": "", "count": 1, "prevHash": "cc54e339999e12ecb5f5579fcd8d7625aa332234079cd65d9d4cd661fc80bea7", "hash": "91106b7b732d4815a9c7f88a48067c53eac0944c18deb58c062421619b193370"},
  {"sessionId": "default", "seq": 1, "at": "2026-11-28T02:47:29.270Z", "act": "entity.create", "decision": "allowed", "role": "admin", "keyId": "local", "signInId": "", "entityId": null, "actingAs": null, "target": {"kind": "entity", "id": "operator"}, "details": {"kind": "human", "sessionRole": "owner"}, "address": "", "requestId": "", "count": 1, "prevHash": "", "hash": "cc54e339999e12ecb5f5579fcd8d7625aa332234079cd65d9d4cd661fc80bea7"},
];
const head = { seq: log.length, hash: log[0]?.hash ?? "" };

/** Checks a log in pages of two records. */
function check(items: readonly AuditRecord[], of = head) {
  return verify((cursor) => {
    const from = Number(cursor ?? 0);
    return Promise.resolve({ items: items.slice(from, from + 2), nextCursor: from + 2 < items.length ? String(from + 2) : null, head: of });
  });
}

const without = (seq: number) => log.filter((r) => r.seq !== seq);
const changed = (seq: number, some: Partial<AuditRecord>) => log.map((r) => (r.seq === seq ? { ...r, ...some } : r));

describe("verify", () => {
  test("a log as it was written is whole", async () => expect(await check(log)).toEqual({ records: 4 }));
  test("so is one without records", async () => expect(await check([], { seq: 0, hash: "" })).toEqual({ records: 0 }));
  test.each([
    ["altered", changed(2, { address: "192.0.2.1" }), "Record 2 was altered."],
    ["with another hash", changed(3, { hash: "0".repeat(64) }), "Record 3 was altered."],
    ["without one in the middle", without(3), "Record 3 was removed."],
    ["without its end", without(4), "Record 4 was removed."],
    ["without its beginning", log.slice(0, 2), "Records 1 to 2 were removed."],
    ["empty", [], "Records 1 to 4 were removed."],
    ["with one twice", [...log, ...log.slice(3)], "Record 1 was added."],
  ])("a log %s is not", async (_, items, problem) => expect((await check(items)).problem).toBe(problem));
  test("a head of another chain is missed", async () => expect((await check(log, { seq: 4, hash: "0".repeat(64) })).problem).toBe("Record 4 was replaced."));
});

test("an admin who acts as somebody is the admin", () => {
  expect(whoWords({ role: "admin", entityId: null, actingAs: "ada" })).toBe("An admin acting as ada");
  expect(whoWords({ role: "entity", entityId: "ada", actingAs: null })).toBe("ada");
});

test("details are in the words of the other pages", () => {
  expect(detailWords("entity", "ada")).toBe("participant: ada");
  expect(detailWords("role", "entity")).toBe("role: participant");
  expect(detailWords("name", "entity")).toBe("name: entity");
});

test("what was deleted is gone in the earlier records, too, until it is made anew", () => {
  const record = (seq: number, act: AuditRecord["act"], kind: AuditRecord["target"]["kind"], id = "till"): AuditRecord => ({ ...log[0]!, seq, act, target: { kind, id } });
  const records = [record(6, "agent.put", "agent", "other"), record(5, "space.create", "space"), record(4, "space.delete", "space"), record(3, "entity.erase", "entity"), record(2, "agent.put", "agent"), record(1, "space.create", "space")];
  const gone = deletedTargets(records);
  expect(records.filter(gone).map((r) => r.seq)).toEqual([4, 3, 2, 1]);
});

test("the last day of a filter is part of it", () => {
  expect(Date.parse(dayBound("2026-11-28", true) ?? "") - Date.parse(dayBound("2026-11-28", false) ?? "")).toBe(24 * 60 * 60 * 1000);
  expect(dayBound("", false)).toBeUndefined();
});
