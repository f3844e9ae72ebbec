import { cleanup, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import type { ReactNode } from "react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Space } from "@shoal-dev/client";
import { listenToInput } from "@/app/last-input";
import { sends } from "@/app/send-key";
import { useShortcut } from "@/app/shortcuts";
import { change } from "@/app/settings";
import { entity, member, message, space } from "../testdata";
import { beginning, show } from "../testworld";
import type { Attachments } from "./attachments";
import { Composer } from "./composer";

// Typing is slow where the machine is busy with other things.
vi.setConfig({ testTimeout: 30_000 });

const here = space({ members: [member("ann", "human", "Ann"), member("bot", "agent", "Shop Agent"), member("bea", "human", "Bea")], lastSeq: 4 });
const people = [entity({ id: "ann", name: "Ann" }), entity({ id: "bot", name: "Shop Agent", kind: "agent", hosted: true }), entity({ id: "bea", name: "Bea" }), entity({ id: "carl", name: "Carl" })];
const noFiles: Attachments = { list: [], add: () => undefined, remove: () => undefined, retry: () => undefined, take: () => [] };

// The server: it stores every message.
const sent: { url: string; key: string | undefined; body: unknown }[] = [];
let respond: () => unknown;
vi.stubGlobal("fetch", async (url: string, init: { headers: Record<string, string>; body: string }) => {
  sent.push({ url, key: init.headers["Idempotency-Key"], body: JSON.parse(init.body) });
  return Response.json(respond(), { status: 201 });
});

beforeEach(() => {
  sent.length = 0;
  respond = () => message({ seq: 5, spaceId: "elsewhere" });
  localStorage.clear();
  sessionStorage.clear();
  change({ theme: "light", sendKey: "ctrl-enter" });
  // jsdom lays nothing out.
  Element.prototype.scrollIntoView = () => undefined;
});
afterEach(cleanup);

const write = async (some: Partial<Space> = {}) => {
  const s = { ...here, ...some };
  await show(<Composer key={s.id} space={s} attachments={noFiles} />, beginning(s, [], people));
  const user = userEvent.setup({ delay: null });
  const field = screen.getByRole<HTMLTextAreaElement>("textbox", { name: "Message" });
  await user.click(field);
  return { user, field };
};

describe("the composer", () => {
  it("sends with Ctrl+Enter: the text, the mentioned ids, and an idempotency key", async () => {
    const { user, field } = await write();
    await user.type(field, "Hi @bea, and @Shop Agent{Control>}{Enter}{/Control}");
    await waitFor(() => expect(sent).toHaveLength(1));
    expect(sent[0]?.url).toBe("/v1/sessions/default/spaces/shop/messages");
    expect(sent[0]?.body).toEqual({ text: "Hi @bea, and @Shop Agent", mentions: ["bea", "bot"] });
    expect(sent[0]?.key).toMatch(/^[0-9a-f]{32}$/);
    expect(field.value).toBe("");
  });

  it("begins a new line with Enter, unless the settings say that Enter sends", async () => {
    const { user, field } = await write({ id: "lines" });
    await user.type(field, "a{Enter}b");
    expect(field.value).toBe("a\nb");
    cleanup();
    change({ sendKey: "enter" });
    const again = await write({ id: "enter" });
    await again.user.type(again.field, "one{Shift>}{Enter}{/Shift}two{Enter}");
    await waitFor(() => expect(sent.map((s) => s.body)).toEqual([{ text: "one\ntwo", mentions: [] }]));
  });

  it("opens the members with @, by keys alone", async () => {
    const { user, field } = await write({ id: "menu" });
    await user.type(field, "ask @");
    expect(screen.getAllByRole("option").map((o) => o.getAttribute("aria-selected"))).toEqual(["true", "false"]);
    expect(field.getAttribute("aria-activedescendant")).toBe(screen.getAllByRole("option")[0]?.id);
    await user.keyboard("{ArrowDown}{Enter}");
    expect(field.value).toBe("ask @Bea ");
    expect(screen.queryByRole("listbox")).toBeNull();
    await user.keyboard("@sh{Tab}now");
    expect(field.value).toBe("ask @Bea @Shop Agent now");
  });

  it("closes the menu with Escape and keeps it closed for that name", async () => {
    const { user, field } = await write({ id: "escape" });
    await user.type(field, "@b{Escape}");
    expect(screen.queryByRole("listbox")).toBeNull();
    await user.keyboard("o");
    expect(screen.queryByRole("listbox")).toBeNull();
    expect(document.activeElement).toBe(field);
  });

  it("leaves Escape to the page while the focus was given, and keeps it once the field is in use", async () => {
    const pressed = vi.fn();
    function Page({ children }: { children: ReactNode }) {
      useShortcut("Escape", "Mark all messages here as read", pressed);
      return children;
    }
    const open = (id: string) => show(<Page>{<Composer space={{ ...here, id }} attachments={noFiles} focus />}</Page>, beginning({ ...here, id }, [], people));
    const user = userEvent.setup({ delay: null });
    await open("given");
    expect(document.activeElement).toBe(screen.getByRole("textbox", { name: "Message" }));
    await user.keyboard("{Escape}");
    expect(document.activeElement).toBe(document.body);
    expect(pressed).toHaveBeenCalledTimes(1);
    await user.click(screen.getByRole("textbox", { name: "Message" }));
    await user.keyboard("{Escape}");
    cleanup();
    await open("typed");
    await user.keyboard("Half a thought{Escape}");
    expect(document.activeElement).toBe(document.body);
    expect(pressed).toHaveBeenCalledTimes(1);
  });

  it("gets the focus again when its space is chosen again, but not by keys", async () => {
    const nav = (
      <nav>
        <a href="#purchasing" aria-current="page">
          Purchasing
        </a>
        <a href="#welcome">Welcome</a>
      </nav>
    );
    listenToInput();
    await show(<>{nav}{<Composer space={{ ...here, id: "again" }} attachments={noFiles} focus />}</>, beginning({ ...here, id: "again" }, [], people));
    const user = userEvent.setup({ delay: null });
    const field = screen.getByRole("textbox", { name: "Message" });
    await user.click(screen.getByRole("link", { name: "Welcome" }));
    expect(document.activeElement).not.toBe(field);
    await user.click(screen.getByRole("link", { name: "Purchasing" }));
    expect(document.activeElement).toBe(field);
    screen.getByRole("link", { name: "Purchasing" }).focus();
    await user.keyboard("{Enter}");
    expect(document.activeElement).not.toBe(field);
  });

  it("names the entities that will act", async () => {
    const { user, field } = await write({ id: "acts" });
    expect(screen.getByText(/answers here/).textContent).toContain("Shop Agent");
    await user.type(field, "@Shop Agent hello");
    expect(screen.getByText(/acts on it/)).toBeTruthy();
    await user.clear(field);
    await user.type(field, "@carl hello");
    expect(screen.getByText(/Carl is not a member of this space/)).toBeTruthy();
    expect(screen.getByRole("button", { name: "Add" })).toBeTruthy();
  });

  it("keeps a draft for each space", async () => {
    const { user, field } = await write({ id: "draft" });
    await user.type(field, "half a thought");
    cleanup();
    expect((await write({ id: "other" })).field.value).toBe("");
    cleanup();
    expect((await write({ id: "draft" })).field.value).toBe("half a thought");
  });

  it("sends nothing while there is nothing to send", async () => {
    const { user, field } = await write({ id: "empty" });
    await user.type(field, "   {Control>}{Enter}{/Control}");
    expect(sent).toEqual([]);
    expect(screen.getByRole<HTMLButtonElement>("button", { name: "Send" }).disabled).toBe(true);
  });
});

it.each([
  ["Enter", {}, "ctrl-enter", false],
  ["Enter", { ctrlKey: true }, "ctrl-enter", true],
  ["Enter", { metaKey: true }, "ctrl-enter", true],
  ["Enter", {}, "enter", true],
  ["Enter", { shiftKey: true }, "enter", false],
  ["Enter", { ctrlKey: true }, "enter", true],
  ["a", { ctrlKey: true }, "ctrl-enter", false],
] as const)("%s with %o, where %s sends: %s", (key, held, sendKey, want) => {
  expect(sends({ key, ctrlKey: false, metaKey: false, shiftKey: false, altKey: false, ...held }, sendKey)).toBe(want);
});
