import { cleanup, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { LiveEvent, Message, Part } from "@shoal-dev/client";
import { entity, member, message, pendingAction, run, space, text, tool } from "../testdata";
import { beginning, show } from "../testworld";
import { MessageView } from "./message";

vi.setConfig({ testTimeout: 30_000 });

// How parts look is the business of others: here it counts which are drawn.
const drawn: string[] = [];
vi.mock("@/parts/part-view", () => ({
  PartView: ({ part }: { message: Message; part: Part }) => {
    drawn.push(part.id);
    return <p>{part.type === "text" ? `${part.text} (${part.status})` : part.id}</p>;
  },
}));

beforeEach(() => void (drawn.length = 0));
afterEach(cleanup);

const at = "2026-11-20T10:00:00.000Z";
const here = space({ members: [member("ann", "human", "Ann"), member("bot", "agent", "Bot")] });
const people = [entity({ id: "ann", name: "Ann" }), entity({ id: "bot", name: "Bot", kind: "agent", hosted: true })];
const view = (id: string) => <MessageView id={id} joined={false} marked={false} entry={false} moderates={false} failed={[]} />;
const start = (...messages: Message[]) => beginning(here, messages, people);
const runs = (...all: ReturnType<typeof run>[]): LiveEvent => ({ type: "local.loaded", entities: people, pending: [], runs: all });
const delta = (offset: number, words: string): LiveEvent => ({ type: "text-delta", at, spaceId: "shop", runId: "run_1", messageId: "msg_1", partId: "prt_2", offset, delta: words });

const streaming = message({
  entityId: "bot", runId: "run_1", status: "streaming",
  parts: [text({ id: "prt_1", text: "First." }), text({ id: "prt_2", text: "", status: "streaming" }), tool({ id: "prt_3", status: "running" })],
});

it("draws only the growing part again for a delta", async () => {
  const world = await show(view("msg_1"), [...start(streaming), runs(run())]);
  drawn.length = 0;
  await world.emit(delta(0, "Hel"));
  await world.emit(delta(3, "lo"));
  expect(drawn).toEqual(["prt_2", "prt_2"]);
  expect(screen.getByText("Hello (streaming)")).toBeTruthy();
});

it("draws many deltas of one frame once", async () => {
  const world = await show(view("msg_1"), [...start(streaming), runs(run())]);
  drawn.length = 0;
  await world.emit(delta(0, "a"), delta(1, "b"), delta(2, "c"));
  expect(drawn).toEqual(["prt_2"]);
});

it("names the author, shows the run's status, and offers to stop it", async () => {
  await show(view("msg_1"), [...start(streaming), runs(run())]);
  expect(screen.getByRole("article", { name: /Bot/ })).toBeTruthy();
  expect(screen.getByText("running")).toBeTruthy();
  expect(screen.getByRole("button", { name: "Stop Bot" })).toBeTruthy();
  expect(screen.getByRole("link", { name: "Open run" }).getAttribute("href")).toBe("/s/default/runs/run_1");
});

it("shows what is unfinished as interrupted when its run is over", async () => {
  const world = await show(view("msg_1"), [...start({ ...streaming, parts: [text({ id: "prt_2", text: "Half a", status: "streaming" })] }), runs(run())]);
  expect(screen.getByText("Half a (streaming)")).toBeTruthy();
  await world.emit({ type: "run.failed", at, spaceId: "shop", runId: "run_1", run: run({ status: "failed" }) });
  expect(screen.getByText("Half a (interrupted)")).toBeTruthy();
  expect(screen.queryByRole("button", { name: "Stop Bot" })).toBeNull();
});

it("a request in another space is named by its question, else by its tool", async () => {
  const asked = [
    pendingAction({ id: "pnd_1", kind: "question", spaceId: "desk", toolName: "askPerson", question: "Which day?" }),
    pendingAction({ id: "pnd_2", kind: "permission", spaceId: "desk", toolName: "payNow" }),
  ];
  await show(view("msg_1"), [...start(streaming), { type: "local.loaded", entities: people, pending: asked, runs: [run({ status: "waiting_tool" })] }]);
  expect(screen.getByText(/^Waiting for an answer in desk:/).textContent).toBe("Waiting for an answer in desk: Which day?");
  expect(screen.getByText(/^Waiting for approval in desk:/).textContent).toBe("Waiting for approval in desk: Pay now");
});

it("names mentioned entities, and those it could not reach", async () => {
  await show(view("msg_1"), start(message({ mentions: ["bot"], droppedMentions: ["carl"] })));
  expect(screen.getByText("@Bot")).toBeTruthy();
  expect(screen.getByText("@carl is not a member of this space and was not notified.")).toBeTruthy();
});

it("says why a mentioned agent could not answer", async () => {
  const failed = run({ status: "failed", error: { code: "provider_auth", message: "There is no key.", retryable: false } });
  await show(<MessageView id="msg_1" joined={false} marked={false} entry={false} moderates={false} failed={[failed]} />, start(message()));
  expect(screen.getByText(/Bot could not answer: There is no key\./)).toBeTruthy();
});

it("the server's own words look like a note, by Shoal", async () => {
  await show(view("msg_1"), start(message({ entityId: "system", parts: [text({ text: "Thread closed: done" })] })));
  expect(screen.getByRole("article", { name: /Shoal/ })).toBeTruthy();
  expect(screen.queryByRole("link")).toBeNull();
});

it("names the requesters if a run posted it from another space", async () => {
  await show(view("msg_1"), start(message({ onBehalfOf: ["carl"] })));
  expect(document.body.textContent).toContain("on behalf of@carl");
});

// What the menu of the only message offers.
async function actions(): Promise<(string | null)[]> {
  await userEvent.hover(screen.getByRole("article"));
  const button = screen.getByRole("button", { name: "More actions" });
  await userEvent.click(button);
  const labels = screen.getAllByRole("menuitem", { hidden: true }).map((item) => item.textContent);
  await userEvent.click(button);
  return labels;
}

it("a deleted message keeps its position and has no text", async () => {
  const world = await show(view("msg_1"), start(message({ parts: [text({ text: "My address is …" })] })));
  expect(await actions()).toContain("Delete message");
  await world.emit({ type: "message.updated", at, spaceId: "shop", runId: null, message: message({ parts: [], deletedAt: at }) });
  expect(screen.getByText("This message was deleted.")).toBeTruthy();
  expect(await actions()).not.toContain("Delete message");
  expect(await actions()).not.toContain("Copy text");
});

it("shows reactions, marks the reader's own, and says that it was edited", async () => {
  const world = await show(view("msg_1"), start(message({ reactions: [{ emoji: "👍", entityIds: ["ann", "bot"] }, { emoji: "🎉", entityIds: ["bot"] }] })));
  expect(screen.getByRole("button", { name: "👍 2: Ann, Bot" }).getAttribute("aria-pressed")).toBe("true");
  expect(screen.getByRole("button", { name: "🎉 1: Bot" }).getAttribute("aria-pressed")).toBe("false");
  expect(screen.queryByText(/^edited/)).toBeNull();
  await world.emit({ type: "message.updated", at, spaceId: "shop", runId: null, message: message({ parts: [text({ text: "Better." })], editedAt: at }) });
  expect(screen.getByText(/^edited/)).toBeTruthy();
  expect(screen.getByText("Better. (done)")).toBeTruthy();
  expect(screen.queryByRole("list", { name: "Reactions" })).toBeNull();
});

it("a reply quotes its message, as it is", async () => {
  const world = await show(view("msg_2"), start(message({ parts: [text({ text: "Tea?" })] }), message({ id: "msg_2", seq: 2, entityId: "bot", replyTo: "msg_1", parts: [text({ text: "Yes." })] })));
  expect(document.body.textContent).toContain("in reply toAnnTea?");
  await world.emit({ type: "message.updated", at, spaceId: "shop", runId: null, message: message({ parts: [], deletedAt: at }) });
  expect(document.body.textContent).toContain("in reply toAnnThis message was deleted.");
});

it("only the sender can edit a text, and nobody a run's message", async () => {
  await show(
    <>
      {view("msg_1")}
      {view("msg_2")}
      {view("msg_3")}
    </>,
    start(message({ parts: [text({ text: "Tea?" })] }), message({ id: "msg_2", seq: 2, entityId: "bot" }), message({ id: "msg_3", seq: 3, runId: "run_1" })),
  );
  expect(screen.queryAllByRole("button")).toEqual([]); // nobody has pointed at a message
  for (const article of screen.getAllByRole("article")) await userEvent.hover(article);
  expect(screen.getAllByRole("button", { name: "Reply" }).length).toBe(3);
  const buttons = screen.getAllByRole("button", { name: "Edit message" });
  expect(buttons.length).toBe(1);
  await userEvent.click(buttons[0] as HTMLElement);
  expect(await screen.findByRole("textbox", { name: "What it says" })).toHaveProperty("value", "Tea?");
  await userEvent.click(screen.getByRole("button", { name: "Cancel" }));
  expect(screen.getByText("Tea? (done)")).toBeTruthy();
});

it("a moderator can delete what others wrote", async () => {
  await show(<MessageView id="msg_1" joined={false} marked={false} entry={false} moderates failed={[]} />, start(message({ entityId: "bot" })));
  expect(await actions()).toContain("Delete message");
});

it("others cannot delete it", async () => {
  await show(view("msg_1"), start(message({ entityId: "bot" })));
  expect(await actions()).toEqual(["Copy link", "Copy text", "Mark unread from here"]);
});
