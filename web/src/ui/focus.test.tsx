import { act, cleanup, fireEvent, render, screen } from "@testing-library/react";
import { useState } from "react";
import { afterEach, expect, it } from "vitest";
import { useFocusKept } from "./focus";

afterEach(cleanup);

function Card() {
  const kept = useFocusKept<HTMLDivElement>();
  const [done, finish] = useState(false);
  return (
    <div {...kept} data-testid="card">
      {done ? "done" : <button onClick={() => finish(true)}>Answer</button>}
    </div>
  );
}

it("takes the focus when its button is removed", () => {
  render(<Card />);
  const button = screen.getByRole("button");
  act(() => button.focus());
  fireEvent.click(button);
  expect(document.activeElement).toBe(screen.getByTestId("card"));
});

it("does not take the focus from elsewhere, or without one", () => {
  render(
    <>
      <input />
      <Card />
    </>,
  );
  const button = screen.getByRole("button");
  fireEvent.click(button);
  expect(document.activeElement).toBe(document.body);
  cleanup();

  render(
    <>
      <input />
      <Card />
    </>,
  );
  act(() => screen.getByRole("button").focus());
  act(() => screen.getByRole("textbox").focus());
  fireEvent.click(screen.getByRole("button"));
  expect(document.activeElement).toBe(screen.getByRole("textbox"));
});
