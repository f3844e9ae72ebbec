import { cleanup, screen } from "@testing-library/react";
import { afterEach, expect, it } from "vitest";
import type { SpaceRow } from "./order";
import { SpaceGroups } from "./space-list";
import { space } from "./testdata";
import { show } from "./testworld";

afterEach(cleanup);

const row = (id: string, unreadCount: number): SpaceRow => ({ space: space({ id, name: id, unreadCount }), waiting: 0, at: "2026-11-20T10:00:00.000Z", member: true });
const draw = (...own: SpaceRow[]) => show(<SpaceGroups groups={{ own, others: [], closed: [] }} />, []);
const sections = () => screen.queryAllByRole("group").map((g) => `${g.getAttribute("aria-label")}: ${[...g.querySelectorAll("a")].map((a) => a.textContent).join(", ")}`);

it("the spaces below those with something unread are the others, not all", async () => {
  await draw(row("kiosk", 2), row("shop", 0));
  expect(sections()).toEqual(["Unread or waiting: #kiosk2 unread", "Others: #shop"]);
});

it("without something unread or pinned, the spaces have no sections", async () => {
  await draw(row("kiosk", 0), row("shop", 0));
  expect(sections()).toEqual([]);
  expect(screen.getAllByRole("link")).toHaveLength(2);
});
