import { describe, expect, it } from "vitest";
import type { LiveEvent } from "@shoal-dev/client";
import { message, pendingAction, text, tool } from "../testdata";
import { announcement } from "./announcer";

const at = "2026-11-20T10:00:00.000Z";
const name = (id: string) => ({ bot: "Shop Agent", bea: "Bea" })[id] ?? id;
const said = (event: LiveEvent) => announcement(event, "shop", "ann", name);
const messageEvent = (type: "message.created" | "message.completed", m: ReturnType<typeof message>): LiveEvent => ({ type, at, spaceId: m.spaceId, runId: m.runId, message: m });

describe("what is announced", () => {
  it("is a complete message, once, and nothing while it streams", () => {
    expect(said(messageEvent("message.created", message({ entityId: "bot", status: "streaming" })))).toBeUndefined();
    expect(said({ type: "text-delta", at, spaceId: "shop", runId: "r", messageId: "msg_1", partId: "p", offset: 0, delta: "x" })).toBeUndefined();
    expect(said(messageEvent("message.completed", message({ entityId: "bot", parts: [text(), tool(), text({ id: "prt_9" })] })))).toEqual({ text: "Shop Agent: message with 3 parts", urgent: false });
  });
  it("reads out what is short", () => {
    expect(said(messageEvent("message.created", message({ entityId: "bea", mentions: ["ann"], parts: [text({ text: "Lunch?" })] })))?.text).toBe("Bea: Lunch?, mentions you");
  });
  it("calls what was closed a space, as people do", () => {
    expect(said(messageEvent("message.created", message({ entityId: "system", parts: [text({ text: "Thread closed: Sold." })] })))?.text).toBe("system: Space closed: Sold.");
    expect(said(messageEvent("message.created", message({ entityId: "bea", parts: [text({ text: "Thread closed: Sold." })] })))?.text).toBe("Bea: Thread closed: Sold.");
  });
  it("is not one's own message, nor one of another space", () => {
    expect(said(messageEvent("message.created", message({ entityId: "ann" })))).toBeUndefined();
    expect(said(messageEvent("message.created", message({ entityId: "bea", spaceId: "other" })))).toBeUndefined();
  });
  it("is assertive only if an answer is needed", () => {
    expect(said({ type: "pending.opened", at, spaceId: "shop", runId: "run_1", pendingAction: pendingAction({ agentId: "bot", toolName: "placeOrder" }) })).toEqual({ text: "Shop Agent needs your answer: Place order", urgent: true });
  });
});
