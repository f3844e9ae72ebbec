import { cleanup, screen } from "@testing-library/react";
import { afterEach, expect, it, vi } from "vitest";
import type { Message, Receipt } from "@shoal-dev/client";
import { entity, member, message, space } from "../testdata";
import { beginning, show } from "../testworld";
import { describe } from "./receipts";
import { MessageView } from "./message";
import { ReceiptMark } from "./receipt-mark";

vi.setConfig({ testTimeout: 30_000 });
afterEach(cleanup);

const answers: Receipt[][] = [];
const asked: string[] = [];
vi.mock("@/api/client", () => ({
  api: {
    GET: (_: string, { params }: { params: { path: { message: string } } }) => {
      asked.push(params.path.message);
      return Promise.resolve({ items: answers.shift() ?? [], nextCursor: null });
    },
  },
}));

const at = "2026-11-20T10:00:00.000Z";
const here = space({ members: [member("ann", "human", "Ann"), member("bot", "agent", "Bot")] });
const people = [entity({ id: "ann", name: "Ann" }), entity({ id: "bot", name: "Bot", kind: "agent" }), entity({ id: "carl", name: "Carl" })];
const receipt = (change: Partial<Receipt>): Receipt => ({
  entityId: "bot", state: "sent", via: null, runId: null, deliveredAt: null, resumedAt: null, answeredAt: null, answeredBy: null, failedReason: null, text: "", ...change,
});
const updated = (m: Message, ...deliveries: Receipt[]) => ({ type: "delivery.updated" as const, at, spaceId: "shop", runId: null, entityId: "ann", messageId: m.id, deliveries });
const mine = message({ mentions: ["bot"] });

it("each state has a mark and words", () => {
  const seen = ["sent", "delivered", "resumed", "answered", "failed"].map((state) => describe(receipt({ state, text: "why" })));
  expect(seen.map((s) => s.mark).join("")).toBe("○◐●✓✕");
  expect(seen[0]?.words).toBe("not delivered: why");
  expect(describe(receipt({ state: "answered" })).words).toBe("answered");
});

it("a mark is read once, and then follows the events", async () => {
  asked.length = 0;
  answers.push([receipt({ text: "in its inbox" })]);
  const world = await show(<ReceiptMark message={mine} entity="bot" />, beginning(here, [mine], people));
  expect(await screen.findByText("(not delivered: in its inbox)")).toBeTruthy();
  await world.emit(updated(mine, receipt({ state: "answered" })));
  expect(screen.getByText("(answered)")).toBeTruthy();
  expect(screen.getByText("✓").getAttribute("aria-hidden")).toBe("true");
  await world.emit(updated(message({ id: "msg_2" }), receipt({ state: "failed" })));
  expect(screen.getByText("(answered)")).toBeTruthy();
  expect(asked).toEqual(["msg_1"]);
});

it("receipts that were missed are read again when the stream restarts", async () => {
  answers.push([receipt({})], [receipt({ state: "resumed" })]);
  const world = await show(<ReceiptMark message={mine} entity="bot" />, beginning(here, [mine], people));
  expect(await screen.findByText("(not delivered)")).toBeTruthy();
  await world.emit({ type: "local.restarted" });
  expect(await screen.findByText("(acknowledged)")).toBeTruthy();
});

const view = <MessageView id="msg_1" joined={false} marked={false} entry={false} moderates={false} failed={[]} />;

it("only one's own mentions of agents have a mark", async () => {
  asked.length = 0;
  answers.push([receipt({ state: "delivered" })]);
  const first = await show(view, beginning(here, [message({ mentions: ["bot", "carl"] })], people));
  expect(await screen.findByText("(delivered)")).toBeTruthy();
  expect(first.container.querySelectorAll("[aria-hidden]:not(svg)").length).toBeGreaterThan(0);
  expect(asked).toEqual(["msg_1"]);
  cleanup();
  await show(view, beginning(here, [message({ entityId: "carl", mentions: ["bot"] })], people));
  await vi.dynamicImportSettled();
  expect(asked).toEqual(["msg_1"]);
});
