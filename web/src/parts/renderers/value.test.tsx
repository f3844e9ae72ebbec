import { cleanup, configure, fireEvent, render, screen, waitFor } from "@testing-library/react";
import { afterEach, describe, expect, it, vi } from "vitest";
import { Value } from "./value";

configure({ asyncUtilTimeout: 20_000 });
vi.setConfig({ testTimeout: 30_000 });
afterEach(cleanup);

// Some looks are loaded when the first of them is wanted.
async function show(value: unknown, hint?: "diff") {
  const drawn = render(<Value value={value} hint={hint} />);
  await waitFor(() => expect(drawn.container.textContent).not.toContain("Loading"));
  return drawn;
}

const cells = (column: number) => screen.getAllByRole("row").slice(1).map((r) => r.querySelectorAll("td")[column]?.textContent);

describe("a table", () => {
  const rows = [{ name: "b", n: 10 }, { name: "a", n: 9 }, { name: "c", n: null }];

  it("is sorted by a column, up, down and not at all; what is missing comes last", async () => {
    await show(rows);
    const head = screen.getByRole("button", { name: "N" });
    fireEvent.click(head);
    expect(cells(1)).toEqual(["9", "10", ""]);
    fireEvent.click(head);
    expect(cells(1)).toEqual(["10", "9", ""]);
    expect(screen.getByRole("columnheader", { name: "N" }).getAttribute("aria-sort")).toBe("descending");
    fireEvent.click(head);
    expect(cells(0)).toEqual(["b", "a", "c"]);
  });

  it("shows 200 rows at a time", async () => {
    const { container } = await show(Array.from({ length: 450 }, (_, i) => ({ i, j: i })));
    expect(container.querySelectorAll("tbody tr")).toHaveLength(200);
    fireEvent.click(screen.getByText("Next"));
    fireEvent.click(screen.getByText("Next"));
    expect(container.querySelectorAll("tbody tr")).toHaveLength(50);
    expect(screen.getByText("401–450")).toBeTruthy();
  });
});

describe("a chart", () => {
  const value = { type: "bar", title: "Sold", x: "month", y: ["n"], data: [{ month: "Jan", n: 3 }, { month: "Feb", n: 5 }] };

  it("says what it shows, and has its numbers as a table", async () => {
    await show(value);
    expect(screen.getByRole("img").getAttribute("aria-label")).toContain("bar chart of n by month, 2 values");
    fireEvent.click(screen.getByRole("button", { name: "View as table" }));
    expect(cells(0)).toEqual(["Jan", "Feb"]);
    expect(cells(1)).toEqual(["3", "5"]);
  });
});

describe("an object", () => {
  it("with a name looks like a card", async () => {
    const { container } = await show({ name: "Lark Air 13", about: "light", price: 1199, currency: "EUR", inStock: true });
    expect(container.querySelector("p")?.textContent).toBe("Lark Air 13");
    expect([...container.querySelectorAll("dt")].map((d) => d.textContent)).toEqual(["Price", "In stock"]);
    expect(container.querySelector("dd")?.textContent).toMatch(/€.?1.?199|1.?199.?€/);
  });

  it("of any depth is a tree that its reader opens", async () => {
    await show({ a: { b: { c: { d: 1 } } } });
    expect(screen.queryByText("d:")).toBeNull();
    fireEvent.click(screen.getByRole("button", { name: /^b:/ }));
    fireEvent.click(screen.getByRole("button", { name: /^c:/ }));
    expect(screen.getByText("d:")).toBeTruthy();
  });
});

describe("changes", () => {
  it("are shown with signs and words", async () => {
    const { container } = await show({ before: "a\nb\n", after: "a\nc\n" }, "diff");
    expect(container.textContent).toContain("−removed: b");
    expect(container.textContent).toContain("+added: c");
  });
});
