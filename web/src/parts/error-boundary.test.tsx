// A failing renderer does not break the rest of the page.
import { cleanup, render, screen } from "@testing-library/react";
import { afterEach, expect, it, vi } from "vitest";
import { ErrorBoundary } from "./error-boundary";

afterEach(cleanup);

function Breaks({ part }: { part: { text: string } }) {
  if (part.text === "boom") throw new Error("a renderer that breaks");
  return <p>{part.text}</p>;
}

const page = (part: { text: string }) => (
  <>
    <ErrorBoundary of={part}>
      <Breaks part={part} />
    </ErrorBoundary>
    <p>the rest</p>
  </>
);

it("shows what breaks as JSON, and tries again when it has changed", () => {
  const silent = vi.spyOn(console, "error").mockImplementation(() => undefined);
  const { rerender } = render(page({ text: "boom" }));
  expect(screen.getByText(/cannot be drawn/)).toBeTruthy();
  expect(screen.getByText(/"text": "boom"/)).toBeTruthy();
  expect(screen.getByText("the rest")).toBeTruthy();
  rerender(page({ text: "fine" }));
  expect(screen.getByText("fine")).toBeTruthy();
  expect(screen.queryByText(/cannot be drawn/)).toBeNull();
  silent.mockRestore();
});
