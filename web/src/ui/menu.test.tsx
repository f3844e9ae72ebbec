import { cleanup, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, it } from "vitest";
import { Menu } from "./menu";

afterEach(cleanup);

const menu = (checked: boolean) => <Menu label="More" icon="…" items={[{ label: "Rename", icon: "R", run: () => undefined }, { label: "Show reasoning", icon: "B", run: () => undefined, checked }]} />;

it("a switch has its icon while it is off, and a tick while it is on", async () => {
  const { rerender } = render(menu(false));
  await userEvent.click(screen.getByRole("button", { name: "More" }));
  const entry = () => screen.getByRole("menuitemcheckbox", { name: "Show reasoning", hidden: true });
  expect([entry().textContent, entry().getAttribute("aria-checked")]).toEqual(["BShow reasoning", "false"]);
  rerender(menu(true));
  expect([entry().textContent, entry().getAttribute("aria-checked")]).toEqual(["✓Show reasoning", "true"]);
});
