// @vitest-environment jsdom
import { cleanup, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, it, vi } from "vitest";
import { member, space } from "../testdata";
import { beginning, show } from "../testworld";
import { MembersTab } from "./members";

vi.setConfig({ testTimeout: 30_000 });

const asked: string[] = [];
const people = Array.from({ length: 120 }, (_, i) => member(`p${String(i).padStart(3, "0")}`, "human", `Person ${i}`));

vi.mock("@/api/client", () => ({
  api: {
    GET: (_: string, { params: { query } }: { params: { query: { kind: string; q: string; cursor?: string; limit: number } } }) => {
      asked.push(`${query.kind} ${query.q} ${query.cursor ?? "first"}`);
      const found = query.kind === "human" ? people.filter((m) => m.name.toLowerCase().includes(query.q.toLowerCase())) : [member("bot", "agent", "Bot")].filter(() => query.q === "");
      const from = Number(query.cursor ?? 0);
      return Promise.resolve({ items: found.slice(from, from + query.limit), nextCursor: found.length > from + query.limit ? String(from + query.limit) : null });
    },
  },
}));

const runs = { all: [], underWay: [], failed: new Map<string, never>() };
afterEach(() => {
  cleanup();
  asked.length = 0;
});

it("shows all members of a small space without asking the server", async () => {
  const here = space({ members: [member("ann", "human", "Ann"), member("bot", "agent", "Bot")] });
  await show(<MembersTab space={here} runs={runs} ask={() => undefined} />, beginning(here, [], []));
  expect(within(screen.getByRole("region", { name: "People" })).getAllByRole("listitem")).toHaveLength(1);
  expect(screen.queryByRole("searchbox")).toBeNull();
  expect(asked).toEqual([]);
});

it("pages and searches the members of a large space", async () => {
  const here = space({ members: people.slice(0, 100), memberCount: 121 });
  await show(<MembersTab space={here} runs={runs} ask={() => undefined} />, beginning(here, [], []));
  const rows = () => within(screen.getByRole("region", { name: "People" })).getAllByRole("listitem");
  await waitFor(() => expect(rows()).toHaveLength(50));
  await userEvent.click(screen.getByRole("button", { name: "Show more of People" }));
  await waitFor(() => expect(rows()).toHaveLength(100));
  expect(within(screen.getByRole("region", { name: "Agents" })).getAllByRole("listitem")).toHaveLength(1);
  await userEvent.type(screen.getByRole("searchbox", { name: "Search members" }), "son 11");
  await waitFor(() => expect(rows()).toHaveLength(11));
  await waitFor(() => expect(screen.getByText("Agents: nobody is called “son 11”.")).toBeDefined());
  expect(screen.queryByRole("button", { name: /Show more/ })).toBeNull();
});
