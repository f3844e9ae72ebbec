// The waits between participants.
import { describe, expect, it } from "vitest";
import type { Entity, PendingAction, Run, Space } from "@shoal-dev/client";
import { waits } from "./waits";

const entity = (id: string, state: Entity["state"], waitEndsAt: string | null = null): Entity => ({
  id, sessionId: "s", kind: "agent", sessionRole: "member", ownerId: null, hosted: false, name: id, description: "", externalId: null, state, waitEndsAt, lastSeenAt: null, lastFailure: null, stalledSince: null, wake: null, metadata: {}, createdAt: "2026-11-22T08:00:00.000Z",
});
const space = {
  id: "shop", name: "Shopping",
  members: [
    { entityId: "ann", kind: "human", name: "Ann", joinedAt: "", addedBy: null },
    { entityId: "bot", kind: "agent", name: "Bot", joinedAt: "", addedBy: null },
  ],
} as unknown as Space;
const pending = (status: PendingAction["status"], kind: PendingAction["kind"]): PendingAction => ({
  id: "pnd_1", kind, runId: "run_1", agentId: "bot", spaceId: "shop", messageId: null, partId: null, toolCallId: "c", toolName: "pay", args: {}, question: null, options: null,
  resultSchema: null, status, expiresAt: "2026-11-22T09:00:00.000Z", createdAt: "2026-11-22T08:00:00.000Z", answeredBy: null, answeredAt: null, by: null, quorum: 1, notRequester: false, choose: null, votes: [], eligible: 1, requesters: [], argsHash: "", argsSchema: null, editedArgs: null, decision: null, triggerText: null, triggerEditedAt: null,
});

describe("the waits", () => {
  it("lists a connected agent that waits for a mention, until its wait ends", () => {
    const found = waits({ entities: [entity("scout", "waiting", "2026-11-22T08:00:41.000Z"), entity("idle", "connected")], runs: [], pending: [], spaces: [] });
    expect(found).toEqual([{ id: "entity:scout", who: "scout", what: "a mention", where: null, whom: [], endsAt: "2026-11-22T08:00:41.000Z", since: null, run: null, times: 1 }]);
  });
  it("lists a run that waits for the people of the space with its request", () => {
    const found = waits({ entities: [], runs: [], pending: [pending("open", "permission")], spaces: [space] });
    expect(found).toEqual([
      { id: "pnd_1", who: "bot", what: "permission for Pay", where: "Shopping", whom: ["ann"], endsAt: "2026-11-22T09:00:00.000Z", since: "2026-11-22T08:00:00.000Z", run: "run_1", times: 1 },
    ]);
  });
  it("counts several requests for one tool on one line", () => {
    const two = [pending("open", "client_tool"), { ...pending("open", "client_tool"), id: "pnd_2" }];
    expect(waits({ entities: [], runs: [], pending: two, spaces: [space] }).map((w) => [w.id, w.times])).toEqual([["pnd_1", 2]]);
  });
  it("lists nothing once it is answered", () => {
    expect(waits({ entities: [], runs: [], pending: [pending("answered", "question")], spaces: [space] })).toEqual([]);
  });
  it("lists a run that waits for a reply", () => {
    const run = { id: "run_2", agentId: "bot", status: "waiting_reply", waitingFor: { spaceId: "shop", from: [{ type: "entity", entityId: "ann" }], until: "2026-11-22T09:00:00.000Z" } } as unknown as Run;
    expect(waits({ entities: [], runs: [run], pending: [], spaces: [] })).toMatchObject([{ who: "bot", what: "a reply from ann", endsAt: "2026-11-22T09:00:00.000Z", run: "run_2" }]);
  });
});
