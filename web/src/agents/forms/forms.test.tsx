// The controls of the forms, with a draft and the server's own schema.
import { readFileSync } from "node:fs";
import { cleanup, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, test } from "vitest";
import { type JsonObject, readJson } from "../config/json";
import { DraftContext, textOf, useDraft, useDraftContext } from "../draft";
import { TextTab } from "../tabs/text";
import { ToolsTab } from "../tabs/tools";
import { CodeArea } from "./code-area";
import { ConfigField } from "./config-field";

const schema = readJson(readFileSync("../internal/agentconfig/agent-config.schema.json", "utf8")) as JsonObject;
const config: JsonObject = { version: "1.0", agent: { system: "Hi" }, loop: { maxSteps: 8 }, tools: [{ name: "ask" }] };

afterEach(cleanup);

function Draft({ children, begin = config }: { children: React.ReactNode; begin?: JsonObject }) {
  return (
    <DraftContext value={useDraft(schema, begin).held}>
      {children}
      <Shown />
    </DraftContext>
  );
}

function Shown() {
  const { draft, dispatch } = useDraftContext();
  return (
    <>
      <pre data-testid="config">{JSON.stringify(draft.config)}</pre>
      <pre data-testid="text">{textOf(draft)}</pre>
      <button onClick={() => dispatch({ type: "refused", fields: [{ location: "body.tools[0].name", message: "is taken" }, { location: "body.loop.maxSteps", message: "must be from 1 to 10000" }] })}>refuse</button>
    </>
  );
}

const shown = (): JsonObject => JSON.parse(screen.getByTestId("config").textContent) as JsonObject;

test("a number stays a number, and other text is reported", async () => {
  const user = userEvent.setup();
  render(<Draft><ConfigField path={["loop", "maxSteps"]} label="Steps" /></Draft>);
  const field = screen.getByLabelText("Steps");
  await user.clear(field);
  expect(shown().loop).toEqual({});
  await user.type(field, "12");
  expect(shown().loop).toEqual({ maxSteps: 12 });
  await user.type(field, "x");
  expect(shown().loop).toEqual({ maxSteps: "12x" });
  expect(screen.getByText("It must be a whole number.")).toBeDefined();
  expect(field.getAttribute("aria-invalid")).toBe("true");
});

test("a value that its control cannot show is written as text, not lost", () => {
  render(<Draft begin={{ ...config, agent: { system: { de: "Hallo" } } }}><ConfigField path={["agent", "system"]} label="System" /></Draft>);
  expect((screen.getByLabelText("System") as HTMLTextAreaElement).value).toBe("de: Hallo");
});

test("choices and flags are the schema's", async () => {
  const user = userEvent.setup();
  render(<Draft><ConfigField path={["loop", "onNewMessage"]} label="New message" /><ConfigField path={["context", "conversation"]} label="Past" /></Draft>);
  expect((screen.getByLabelText("New message") as HTMLSelectElement).value).toBe("parallel");
  expect((screen.getByLabelText("Past") as HTMLInputElement).checked).toBe(true);
  await user.selectOptions(screen.getByLabelText("New message"), "reject");
  await user.click(screen.getByLabelText("Past"));
  expect(shown()).toMatchObject({ loop: { maxSteps: 8, onNewMessage: "reject" }, context: { conversation: false } });
});

test("an error of the server is shown at its field and at its line", async () => {
  const user = userEvent.setup();
  render(<Draft><ConfigField path={["loop", "maxSteps"]} label="Steps" /><ToolsTab /><TextTab /></Draft>);
  await user.click(screen.getByText("refuse"));
  expect(screen.getByText("It must be from 1 to 10000.")).toBeDefined();
  expect(screen.getByRole("button", { name: /ask.*1 error/ })).toBeDefined();
  const lines = screen.getByTestId("text").textContent.split("\n");
  const line = lines.findIndex((l) => l.includes("name: ask")) + 1;
  expect(screen.getByRole("button", { name: `Line ${line}: tools[0].name is taken` })).toBeDefined();
});

test("another kind of tool has other settings", async () => {
  const user = userEvent.setup();
  render(<Draft begin={{ ...config, tools: [{ name: "call", executionType: "request", execution: { url: "https://a.example", method: "GET" } }] }}><ToolsTab /></Draft>);
  await user.click(screen.getByRole("button", { name: /^call/ }));
  expect((screen.getByLabelText("URL (required)") as HTMLInputElement).value).toBe("https://a.example");
  await user.selectOptions(screen.getByLabelText("Kind"), "compute");
  expect(screen.getByLabelText("Expression (required)")).toBeDefined();
  expect(shown().tools).toEqual([{ name: "call", executionType: "compute" }]);
});

test("tools are added, copied, moved and removed", async () => {
  const user = userEvent.setup();
  const names = () => (shown().tools as JsonObject[]).map((t) => t.name);
  render(<Draft><ToolsTab /></Draft>);
  await user.click(screen.getByRole("button", { name: "Add tool" }));
  expect(names()).toEqual(["ask", "tool_2"]);
  await user.click(screen.getByRole("button", { name: "Copy ask" }));
  expect(names()).toEqual(["ask", "ask_2", "tool_2"]);
  await user.click(screen.getByRole("button", { name: "Move tool_2 up" }));
  expect(names()).toEqual(["ask", "tool_2", "ask_2"]);
  await user.click(screen.getByRole("button", { name: "Remove ask" }));
  expect(names()).toEqual(["tool_2", "ask_2"]);
});

test("Tab indents in the text, and Escape before it leaves", async () => {
  const user = userEvent.setup();
  const typed: string[] = [];
  render(<><CodeArea label="Text" indents value="a" onChange={(t) => typed.push(t)} /><button>next</button></>);
  const area = screen.getByLabelText<HTMLTextAreaElement>("Text");
  area.focus();
  area.setSelectionRange(0, 0);
  await user.keyboard("{Tab}");
  expect(typed).toEqual(["  a"]);
  expect(document.activeElement).toBe(area);
  await user.keyboard("{Escape}{Tab}");
  expect(document.activeElement).toBe(screen.getByText("next"));
});

test("without a selection Tab moves the focus", async () => {
  const user = userEvent.setup();
  render(<><CodeArea label="Text" value="a" onChange={() => undefined} /><button>next</button></>);
  screen.getByLabelText("Text").focus();
  await user.keyboard("{Tab}");
  expect(document.activeElement).toBe(screen.getByText("next"));
});
