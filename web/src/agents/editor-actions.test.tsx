import { cleanup, render, screen } from "@testing-library/react";
import { afterEach, expect, it } from "vitest";
import { EditorActions } from "./editor-actions";

afterEach(cleanup);

const show = (remote: boolean) => render(<EditorActions why={undefined} isChanged={false} remote={remote} trying="no" onTry={() => undefined} onOpen={() => undefined} />);
const names = () => screen.getAllByRole("button").map((button) => button.textContent);

it("offers a preview and a trial of an agent whose model the server runs", () => {
  show(false);
  expect(names()).toEqual(expect.arrayContaining(["What the model sees", "Try it", "Save"]));
});

it("offers neither for an agent whose model a program runs, and says why", () => {
  show(true);
  expect(names()).not.toContain("What the model sees");
  expect(names()).not.toContain("Try it");
  expect(names()).toContain("Save");
  expect(screen.getByText("No preview and no trial: only its program knows what its model sees.")).toBeTruthy();
});
