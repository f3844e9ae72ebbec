// What the timeline of a run says, from what the server keeps of it.
import { describe, expect, test } from "vitest";
import { aCall, aPending, aRun, aStep, at } from "../testing";
import { spansOf } from "./spans";

const rows = (spans: ReturnType<typeof spansOf>) => spans.map((s) => `${s.kind} ${s.name} ${s.from === null ? "?" : s.from - Date.parse(at(0))}..${s.to === null ? "" : s.to - Date.parse(at(0))}${s.about ? " about" : ""}${s.failed ? " failed" : ""}`);

describe("spansOf", () => {
  test("a queued run has an open queue span", () => {
    expect(rows(spansOf(aRun({ status: "queued", startedAt: null }), [], []))).toEqual(["queue Queue 0.."]);
  });

  test("the model writes until its first call begins, and a call takes as long as the server executed it", () => {
    const step = aStep({ startedAt: at(10), endedAt: at(100), toolCalls: [aCall({ toolCallId: "a", startedAt: at(60), endedAt: at(90) }), aCall({ toolCallId: "b", toolName: "book", status: "failed", startedAt: at(70), endedAt: at(80) })] });
    expect(rows(spansOf(aRun({ startedAt: at(5) }), [step], []))).toEqual(["queue Queue 0..5", "step Step 1 10..100 failed", "model gpt 10..60", "tool look 60..90", "tool book 70..80 failed"]);
  });

  test("a step without calls has only the model's span; an open step has an open one", () => {
    expect(rows(spansOf(aRun({}), [aStep({ startedAt: at(10), endedAt: null })], []))).toContain("model gpt 10..");
  });

  test("a permission is waited for before its call is executed", () => {
    const step = aStep({ startedAt: at(10), endedAt: at(100), toolCalls: [aCall({ toolCallId: "a", startedAt: at(95), endedAt: at(99) })] });
    const asked = aPending({ kind: "permission", toolCallId: "a", status: "answered", createdAt: at(50), answeredAt: at(94), answeredBy: "ann" });
    expect(rows(spansOf(aRun({}), [step], [asked])).slice(2)).toEqual(["model gpt 10..50", "wait look, permission 50..94", "tool look 95..99"]);
  });

  test("the other calls of a step begin when its permission is decided", () => {
    const step = aStep({ startedAt: at(10), endedAt: null, toolCalls: [aCall({ toolCallId: "a", status: "pending" }), aCall({ toolCallId: "b", toolName: "sendSpaceMessage", status: "pending" })] });
    const asked = aPending({ kind: "permission", toolCallId: "a", createdAt: at(50) });
    const held = spansOf(aRun({ status: "waiting_tool" }), [step], [asked]).find((s) => s.name === "sendSpaceMessage");
    expect([held?.kind, held?.note]).toEqual(["wait", "begins when the permission is decided"]);
  });

  test("a call that somebody outside answers is one wait, however the server times it", () => {
    const step = aStep({ startedAt: at(10), endedAt: null, toolCalls: [aCall({ toolCallId: "a", status: "pending", startedAt: at(50), endedAt: null })] });
    const asked = aPending({ kind: "client_tool", toolCallId: "a", createdAt: at(50) });
    expect(rows(spansOf(aRun({ status: "waiting_tool" }), [step], [asked])).slice(2)).toEqual(["model gpt 10..50", "wait look 50.."]);
  });

  test("an id that a model uses again belongs to the step in which it was asked", () => {
    const steps = [aStep({ startedAt: at(10), endedAt: at(40), toolCalls: [aCall({ toolCallId: "a", startedAt: at(20), endedAt: at(30) })] }), aStep({ index: 1, startedAt: at(50), endedAt: null, toolCalls: [aCall({ toolCallId: "a", status: "pending" })] })];
    const spans = spansOf(aRun({}), steps, [aPending({ toolCallId: "a", createdAt: at(60) })]);
    expect(spans.filter((s) => s.kind === "wait").map((s) => s.step)).toEqual([1]);
  });

  test("waiting for a reply is a wait, not work", () => {
    const step = aStep({ startedAt: at(10), endedAt: at(100), toolCalls: [aCall({ toolName: "sendSpaceMessage", args: { text: "well?", wait: { for: [] } }, startedAt: at(20), endedAt: at(99) })] });
    const wait = spansOf(aRun({}), [step], []).find((s) => s.kind === "wait");
    expect([wait?.name, wait?.note]).toEqual(["sendSpaceMessage", "waited for a reply: done"]);
  });

  test("where no times are kept they are an estimate, and say so", () => {
    const step = aStep({ startedAt: at(10), endedAt: at(100), firstTokenMs: 5, toolCalls: [aCall({ status: "ok" })] });
    expect(rows(spansOf(aRun({}), [step], [])).slice(2)).toEqual(["model gpt 10..15 about", "wait look 15..100 about"]);
  });

  test("a call that never began has no place in time", () => {
    const step = aStep({ startedAt: at(10), endedAt: at(100), toolCalls: [aCall({ status: "canceled" })] });
    expect(rows(spansOf(aRun({}), [step], [])).slice(1)).toEqual(["step Step 1 10..100", "model gpt 10..100", "tool look ?.."]);
  });

  test("without steps, which an entity does not see, the waits remain", () => {
    expect(rows(spansOf(aRun({ startedAt: at(1) }), [], [aPending({ createdAt: at(30), status: "expired", expiresAt: at(60) })]))).toEqual(["queue Queue 0..1", "wait look 30..60 failed"]);
  });
});
