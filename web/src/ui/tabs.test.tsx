import { cleanup, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useState } from "react";
import { afterEach, expect, it } from "vitest";
import { Tabs } from "./tabs";

afterEach(cleanup);

const three = [{ id: "a", name: "First" }, { id: "b", name: "Second", count: 2, counted: "errors" }, { id: "c", name: "Third" }] as const;

function Page() {
  const [value, change] = useState<"a" | "b" | "c">("a");
  return (
    <Tabs label="Views" tabs={three} value={value} onChange={change}>
      content of {value}
    </Tabs>
  );
}

it("moves between tabs by keys, and names the content by its tab", async () => {
  render(<Page />);
  await userEvent.click(screen.getByRole("tab", { name: "First" }));
  const after = async (key: string) => {
    await userEvent.keyboard(`{${key}}`);
    return [document.activeElement?.textContent, screen.getByRole("tabpanel", { name: /./ }).textContent];
  };
  expect(await after("ArrowRight")).toEqual(["Second2 errors", "content of b"]);
  expect(await after("End")).toEqual(["Third", "content of c"]);
  expect(await after("ArrowRight")).toEqual(["First", "content of a"]);
  expect(await after("ArrowLeft")).toEqual(["Third", "content of c"]);
  expect(await after("Home")).toEqual(["First", "content of a"]);
  expect(screen.getByRole("tab", { selected: true }).textContent).toBe("First");
  expect(screen.getAllByRole("tab").map((t) => t.tabIndex)).toEqual([0, -1, -1]);
});
