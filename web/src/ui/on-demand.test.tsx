// What cannot be loaded does not take the page along.
import { cleanup, render, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { dialogOnDemand, onDemand } from "./on-demand";

beforeEach(() => void vi.spyOn(console, "error").mockImplementation(() => undefined));
afterEach(() => {
  cleanup();
  vi.restoreAllMocks();
});

const Name = ({ name }: { name: string }) => <p>{name}</p>;

function failsOnce() {
  let attempts = 0;
  return () => (attempts++ === 0 ? Promise.reject<typeof Name>(new TypeError("Failed to fetch dynamically imported module")) : Promise.resolve(Name));
}

it("keeps the rest of the page, and loads when the reader tries again", async () => {
  const Part = onDemand(failsOnce());
  render(
    <>
      <Part name="here" />
      <p>the rest</p>
    </>,
  );
  expect((await screen.findByRole("alert")).textContent).toMatch(/Server unreachable/);
  expect(screen.getByText("the rest")).toBeTruthy();
  await userEvent.click(screen.getByRole("button", { name: "Try again" }));
  expect(await screen.findByText("here")).toBeTruthy();
  expect(screen.queryByRole("alert")).toBeNull();
});

it("shows nothing where the page is complete without it, and loads for the next one", async () => {
  const load = vi.fn(failsOnce());
  const Part = onDemand(load, { failed: () => null });
  const { container } = render(<Part name="first" />);
  await vi.waitFor(() => expect(console.error).toHaveBeenCalled());
  expect(container.textContent).toBe("");
  render(<Part name="second" />);
  expect(await screen.findByText("second")).toBeTruthy();
});

it("shows what became of a dialog in a dialog, which closes", async () => {
  const Asked = dialogOnDemand<{ onClose: () => void }>(() => Promise.reject(new TypeError("Failed to fetch dynamically imported module")));
  const onClose = vi.fn();
  HTMLDialogElement.prototype.showModal ??= function (this: HTMLDialogElement) {
    this.open = true; // jsdom has none
  };
  render(<Asked onClose={onClose} />);
  const dialog = await screen.findByRole("dialog", { name: "This could not be opened" });
  expect(within(dialog).getByRole("alert").textContent).toMatch(/Server unreachable/);
  await userEvent.click(within(dialog).getByRole("button", { name: "Close" }));
  expect(onClose).toHaveBeenCalled();
});
