// The stages of a client that is being connected.
import { describe, expect, it } from "vitest";
import type { Entity } from "@shoal-dev/client";
import { wrongID } from "./identity";
import { newer, stageOf } from "./light";

const made = Date.parse("2026-11-22T08:00:00.000Z");
const scout = (state: Entity["state"], lastSeenAt: string | null): Entity => ({
  id: "scout", sessionId: "default", kind: "agent", sessionRole: "member", ownerId: null, hosted: false, name: "scout", description: "", externalId: null, state, waitEndsAt: null, lastSeenAt, lastFailure: null, stalledSince: null, wake: null, metadata: {}, createdAt: "2026-11-22T07:00:00.000Z",
});

describe("the stage", () => {
  it("is waiting until the first call after the key was created", () => {
    expect(stageOf(undefined, made)).toBe("nothing");
    expect(stageOf(scout("offline", null), made)).toBe("nothing");
    expect(stageOf(scout("connected", "2026-11-22T07:59:59.000Z"), made)).toBe("nothing");
  });
  it("is seen after it, also when the client has disconnected", () => {
    expect(stageOf(scout("connected", "2026-11-22T08:00:01.000Z"), made)).toBe("seen");
    expect(stageOf(scout("offline", "2026-11-22T08:00:01.000Z"), made)).toBe("seen");
  });
  it("reports an open wait, whenever it started", () => {
    expect(stageOf(scout("waiting", "2026-11-22T07:59:00.000Z"), made)).toBe("waiting");
  });
  it("uses the newer of two states", () => {
    const old = scout("offline", null);
    const fresh = scout("waiting", "2026-11-22T08:00:01.000Z");
    expect(newer(old, fresh)).toBe(fresh);
    expect(newer(fresh, old)).toBe(fresh);
    expect(newer(undefined, old)).toBe(old);
  });
});

describe("an id", () => {
  it.each(["scout", "report-writer", "a.b_C-9", "x".repeat(64)])("accepts %s", (id) => expect(wrongID(id)).toBeUndefined());
  it.each(["", "two words", "größe", "system", ".", "..", "x".repeat(65), "a/b"])("rejects %s", (id) => expect(wrongID(id)).toBeTruthy());
});
