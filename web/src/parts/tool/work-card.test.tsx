import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, describe, expect, it } from "vitest";
import type { ToolPart } from "@shoal-dev/client";
import { ToolCard } from "./card";

afterEach(cleanup);

function show(more: Partial<ToolPart>) {
  const part = {
    id: "prt_1", type: "tool_call", status: "done", toolName: "Bash", toolCallId: "t1", args: {}, result: null, error: null, answeredBy: null, editedArgs: null, decision: null,
    display: { mode: "minimal", customUI: "remote.tool", title: "" }, ...more,
  } as ToolPart;
  return render(<ToolCard part={part} nameOf={(id) => id} />);
}
const display = (title: string) => ({ mode: "minimal", customUI: "remote.tool", title });

describe("a call of a coding agent", () => {
  it("is titled by what it does, and folded", () => {
    show({ display: display("go test ./..."), args: { command: "go test ./...", cwd: "/src" }, result: "# not a heading\nok" });
    expect(screen.getByRole("button", { name: /go test/ }).getAttribute("aria-expanded")).toBe("false");
    fireEvent.click(screen.getByRole("button", { name: /go test/ }));
    expect(screen.getByLabelText("Output").textContent).toBe("# not a heading\nok");
    expect(screen.queryByRole("heading")).toBeNull();
  });
  it("counts the lines that it changes, and shows few of them at once", async () => {
    show({ toolName: "Edit", display: display("a.ts"), args: { file_path: "a.ts", old_string: "one\ntwo", new_string: "one\n2" } });
    expect(screen.getByText("1 line added,")).toBeTruthy();
    expect(await screen.findByRole("group", { name: "Changes" })).toBeTruthy();
  });
  it("shows no box for an empty output", () => {
    show({ toolName: "Edit", display: display("a.ts"), args: { file_path: "a.ts", old_string: "one", new_string: "1" }, result: "" });
    expect(screen.queryByText("Result")).toBeNull();
  });
  it("folds many", () => {
    show({ toolName: "Write", display: display("a.ts"), args: { file_path: "a.ts", content: "x\n".repeat(40) } });
    expect(screen.queryByRole("group", { name: "Changes" })).toBeNull();
  });
  it("shows how a command failed as it was printed", () => {
    show({ status: "error", display: display("make"), args: { command: "make" }, error: "make: *** [all] Error 2" });
    expect(screen.getByLabelText("Output").textContent).toBe("make: *** [all] Error 2");
  });
});
