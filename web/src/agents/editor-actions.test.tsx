import { cleanup, render, screen } from "@testing-library/react";
import { afterEach, expect, it } from "vitest";
import { ConsoleContext } from "@/app/console";
import { EditorActions } from "./editor-actions";

afterEach(cleanup);

const me = { role: "entity", entityId: "ann", keyId: "key_1", sessionId: "default", scopes: [], signInId: null, acts: [] } as const;
const show = (remote: boolean, may = true) =>
  render(
    <ConsoleContext value={{ me, session: "default", actor: "ann", admin: false, may: (act) => may || act !== "manage", setActor: () => undefined }}>
      <EditorActions why={undefined} isChanged={false} remote={remote} trying="no" onTry={() => undefined} onOpen={() => undefined} />
    </ConsoleContext>,
  );
const names = () => screen.queryAllByRole("button").map((button) => button.textContent);

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

it("offers nothing to those who only read the settings, and says why", () => {
  show(false, false);
  expect(names()).toEqual([]);
  expect(screen.getByText("Read-only: your role does not change agents.")).toBeTruthy();
});
