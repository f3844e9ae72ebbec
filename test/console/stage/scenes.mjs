// Every page of the console, and every dialog and menu over it: where it is, what is
// seen once it is there, and what is pressed to open it. `found` is what scenery()
// has made. A scene with `only` is one of that width.

import assert from "node:assert/strict";

const button = (name, nth = 0) => (page) => page.getByRole("button", { name, exact: typeof name === "string" }).nth(nth).click();
const press = (key) => (page) => page.keyboard.press(key);
const all = (...steps) => async (page) => {
  for (const step of steps) await step(page);
};
const menu = (item) => all(button("More about this space"), (page) => page.getByRole("menuitem", { name: item }).click());
const dialog = (title) => (page) => page.getByRole("dialog", { name: title });
const main = (words) => (page) => page.getByRole("main").getByText(words).filter({ visible: true }).first();
const heading = (name) => (page) => page.getByRole("heading", { name }).first();
// On a phone the way back is at the head.
const notFound = (title, list) => (page, width) => {
  const there = page.getByRole("main").filter({ has: page.getByRole("heading", { name: title }) });
  return width === "phone" ? there.locator("header").getByRole("link", { name: list }) : there;
};
/** The head of a message that is being written, with Stop, stays on the screen: it is one row. */
async function headIsOneRow(page) {
  const found = page.getByRole("article").getByRole("button", { name: /^Stop/ }).last();
  const stop = await found.boundingBox();
  const head = await found.locator("xpath=ancestor::header").boundingBox();
  assert.ok(head.height < 1.5 * stop.height, `the head is ${head.height} high, Stop ${stop.height}`);
}

/** The actions of a message that a link leads to are not over its words. */
async function actionsAreBeside(page) {
  const words = page.getByText("How many cormorants");
  const more = page.getByRole("article").filter({ has: words }).getByRole("button", { name: "More actions" });
  await more.waitFor();
  const [text, actions] = [await words.boundingBox(), await more.boundingBox()];
  assert.ok(actions.y + actions.height <= text.y + 4, `the actions end at ${actions.y + actions.height}, the words begin at ${text.y}`);
}
const write = (text) => async (page) => {
  const field = page.getByRole("textbox", { name: "Message" });
  await field.fill("");
  await field.pressSequentially(text);
};

const spaces = [
  { name: "space-streaming", path: "/spaces/river", act: headIsOneRow, seen: main(/turned at/) },
  { name: "spaces", path: "/spaces", seen: heading(/.+/) },
  { name: "space-empty", path: "/spaces/quiet", seen: heading("Quiet corner") },
  { name: "space-messages", path: "/spaces/ledger", seen: main("cormorants") },
  { name: "space-cards-waiting", path: "/spaces/desk", act: headIsOneRow, seen: (page) => page.getByRole("button", { name: "Approve", exact: true }).last() },
  { name: "space-failed-run", path: "/spaces/failing", seen: main("Are you there?") },
  { name: "space-closed", path: "/spaces/done", seen: main(/This space is closed/) },
  { name: "space-only-looking", path: "/spaces/theirs", seen: (page) => page.getByRole("button", { name: "Join to write" }) },
  { name: "space-unknown", path: "/spaces/nowhere", seen: notFound("Space not found", "All spaces") },
  { name: "space-jumped-to", path: "/spaces/ledger?seq=1", act: actionsAreBeside, seen: main("How many cormorants") },
  { name: "space-mention-menu", path: "/spaces/desk", act: write("Hello @"), seen: (page) => page.getByRole("option", { name: /scout/i }), after: write("") },
  { name: "space-menu", path: "/spaces/desk", act: button("More about this space"), seen: (page) => page.getByRole("menuitem", { name: "Rename" }) },
  { name: "space-panel", path: "/spaces/desk", only: "phone", act: button(/Show panel/), seen: (page) => page.getByRole("tab", { name: /Members/ }) },
  { name: "space-panel-runs", path: "/spaces/desk", act: (page, width) => (width === "phone" ? all(button(/Show panel/), tab(/Runs/))(page) : tab(/Runs/)(page)), seen: (page) => page.getByRole("heading", { name: "Runs here" }) },
  { name: "space-panel-files", path: "/spaces/desk", act: (page, width) => (width === "phone" ? all(button(/Show panel/), tab("Files"))(page) : tab("Files")(page)), seen: (page) => page.getByText(/No files here/) },
  { name: "dialog-new-space", path: "/spaces", act: (page, width) => button("New space", 0)(page, width), seen: dialog("New space") },
  { name: "dialog-new-space-two-agents", path: "/spaces", act: all(button("New space"), (page) => page.getByRole("dialog").getByLabel("Name").fill("Harbour"), (page) => page.getByRole("dialog").getByRole("checkbox", { name: /Clerk/ }).check(), (page) => page.getByRole("dialog").getByRole("checkbox", { name: /Counter/ }).check()), seen: dialog("New space") },
  { name: "dialog-invite", path: "/spaces/desk", act: menu("Add members"), seen: dialog(/^Add to/) },
  { name: "dialog-rename", path: "/spaces/desk", act: menu("Rename"), seen: dialog("Rename space") },
  { name: "dialog-who-answers", path: "/spaces/desk", act: menu("Admin agent"), seen: dialog("Admin agent") },
  { name: "dialog-leave", path: "/spaces/desk", act: menu("Leave"), seen: dialog(/^Leave/) },
  { name: "dialog-close-space", path: "/spaces/desk", act: menu("Close with a summary"), seen: dialog(/^Close/) },
  { name: "dialog-remove-member", path: "/spaces/desk", only: "wide", act: (page) => page.getByRole("button", { name: "Remove Scout" }).click(), seen: dialog(/^Remove Scout/) },
];

function tab(name) {
  return (page) => page.getByRole("tab", { name, exact: typeof name === "string" }).click();
}

const approvals = (found) => [
  { name: "approvals", path: "/approvals", seen: (page, width) => (width === "phone" ? main("bookRoom")(page) : page.getByRole("button", { name: "Approve", exact: true }).first()) },
  { name: "approvals-one", path: `/approvals?pending=${found.pending}`, seen: (page) => page.getByRole("button", { name: "Approve", exact: true }).first() },
  { name: "approvals-anyone", path: "/approvals?show=anyone", seen: main("bookRoom") },
  { name: "approvals-done", path: "/approvals?show=done", seen: main(/bookRoom/) },
  { name: "approvals-remembered", path: "/approvals?show=remembered", seen: heading("No remembered decisions") },
  { name: "approvals-gone", path: "/approvals?pending=pnd_unknown", seen: heading("Request not found") },
  { name: "approvals-empty", session: "blank", path: "/approvals", seen: heading("Nothing is waiting for you") },
  { name: "dialog-bulk", path: "/approvals", act: button("Decide together…"), seen: dialog(/^Requests from Clerk/) },
  { name: "dialog-bulk-confirm", path: "/approvals", act: all(button("Decide together…"), (page) => page.getByRole("checkbox", { name: /^All/ }).check(), button(/^Approve \d+ …/)), seen: dialog(/^Approve these/) },
];

const runs = (found) => [
  { name: "runs", path: "/runs", seen: main("Counter") },
  { name: "runs-failed-only", path: "/runs?failed=true", seen: main("Keyless") },
  { name: "runs-no-hit", path: "/runs?agent=nobody", seen: heading("No matching runs") },
  { name: "runs-empty", session: "blank", path: "/runs", seen: heading("No runs yet") },
  { name: "run-timeline", path: `/runs/${found.ended}`, seen: (page) => page.getByRole("tab", { name: "Timeline" }) },
  { name: "run-timeline-waiting", path: `/runs/${found.waiting}`, seen: (page) => page.getByRole("tab", { name: "Timeline" }) },
  { name: "run-messages", path: `/runs/${found.ended}?tab=messages`, seen: main("That is all.") },
  { name: "run-saw", path: `/runs/${found.ended}?tab=saw`, act: (page) => page.getByText("System prompt").click(), seen: main("You count the cormorants.") },
  { name: "run-events", path: `/runs/${found.ended}?tab=events`, seen: main("run.completed") },
  { name: "run-coding", path: `/runs/${found.coding}?tab=messages`, act: (page) => page.getByRole("main").getByRole("button", { name: /README\.md/ }).scrollIntoViewIfNeeded(), seen: main("git push") },
  { name: "run-coding-timeline", path: `/runs/${found.coding}`, seen: (page) => page.getByRole("tab", { name: "Timeline" }) },
  { name: "space-coding", path: "/spaces/cart", seen: main("git push") },
  { name: "space-coding-open", path: "/spaces/cart", act: all((page) => page.getByRole("main").getByRole("button", { name: /README\.md/ }).click(), (page) => page.getByRole("main").getByRole("button", { name: /go test \.\/\.\.\./ }).click()), seen: main("An empty cart panics.") },
  { name: "run-errors-none", path: `/runs/${found.ended}?tab=errors`, seen: heading("No errors") },
  { name: "run-errors", path: `/runs/${found.failed}?tab=errors`, seen: main(/ANTHROPIC_API_KEY/) },
  { name: "run-unknown", path: "/runs/run_unknown", seen: notFound("Run not found", "All runs") },
  { name: "dialog-cancel-run", path: `/runs/${found.waiting}`, act: button("Stop"), seen: dialog("Stop this run?") },
];

const agents = [
  { name: "agents", path: "/agents", seen: main("Clerk") },
  { name: "agents-empty", session: "blank", path: "/agents", seen: heading("No hosted agents") },
  { name: "runners", path: "/runners", seen: heading("ada-mbp") },
  { name: "runners-empty", session: "blank", path: "/runners", seen: main("None yet.") },
  { name: "dialog-remove-runner", path: "/runners", act: button("Remove ada-mbp"), seen: dialog("Remove ada-mbp?") },
  { name: "agent-remote", path: "/agents/coder?tab=model", seen: main("ada-mbp") },
  { name: "agent-unknown", path: "/agents/nobody", seen: notFound("Agent not found", "All agents") },
  { name: "agent-connected", path: "/agents/scout", seen: main(/It answered a mention/) },
  { name: "agent-asleep", path: "/agents/dozer", seen: main(/It did not answer a mention/) },
  ...["instructions", "model", "tools", "triggers", "limits", "memory", "text", "versions"].map((id) => ({ name: `agent-${id}`, path: `/agents/counter?tab=${id}`, seen: (page) => page.getByRole("tabpanel").getByRole("heading").or(page.getByRole("tabpanel").getByRole("textbox")).first() })),
  { name: "agent-menu", path: "/agents/counter", act: button("More"), seen: (page) => page.getByRole("menuitem", { name: "Trigger a run" }) },
  { name: "agent-tool-open", path: "/agents/clerk?tab=tools", act: (page) => page.getByRole("tabpanel").getByText("bookRoom").first().click(), seen: (page) => page.getByRole("tabpanel").getByLabel("Name").first() },
  { name: "agent-try-it", path: "/agents/counter", act: button("Try it"), seen: (page) => page.getByRole("button", { name: "Start the trial" }) },
  { name: "agent-try-it-begun", path: "/agents/counter", act: all(button("Try it"), button("Start the trial")), seen: (page) => page.getByRole("button", { name: "Clean up" }), after: all(button("Clean up"), (page) => page.getByRole("button", { name: "Start the trial" }).waitFor()) },
  { name: "agent-save", path: "/agents/clerk", act: all((page) => page.getByLabel(/system/i).first().fill("You book rooms, and nothing else."), button("Save")), seen: dialog("Save this config?"), after: all(press("Escape"), (page) => page.getByLabel(/system/i).first().fill("You book rooms.")) },
  { name: "agent-restore", path: "/agents/counter?tab=versions", act: button(/Restore/), seen: dialog(/^Restore version/) },
  { name: "agent-preview", path: "/agents/counter", act: button("What the model sees"), seen: (page) => page.getByRole("dialog").getByText("System prompt") },
  { name: "dialog-new-agent", path: "/agents", act: button("New agent"), seen: dialog("New agent") },
  { name: "dialog-new-agent-text", path: "/agents", act: all(button("New agent"), (page) => page.getByRole("radio", { name: "From a config" }).check()), seen: dialog("New agent") },
  { name: "dialog-trigger", path: "/agents/counter", act: all(button("More"), (page) => page.getByRole("menuitem", { name: "Trigger a run" }).click()), seen: dialog("Trigger counter") },
  { name: "dialog-stop-hosting", path: "/agents/counter", act: all(button("More"), (page) => page.getByRole("menuitem", { name: "Stop hosting it" }).click()), seen: dialog(/^Stop hosting/) },
];

const plans = [
  { name: "plans", path: "/plans", seen: main("morning report") },
  { name: "plans-no-agents", session: "blank", path: "/plans", seen: heading("No hosted agents") },
  { name: "dialog-new-plan", path: "/plans", act: button("New plan"), seen: dialog("New plan") },
  { name: "dialog-new-plan-once", path: "/plans", act: all(button("New plan"), (page) => page.getByRole("radio", { name: "Once" }).check()), seen: dialog("New plan") },
  { name: "dialog-change-plan", path: "/plans", act: button("Edit morning report"), seen: dialog("Edit plan") },
  { name: "dialog-delete-plan", path: "/plans", act: button("Delete morning report"), seen: dialog(/^Delete the plan/) },
];

const clients = ["claude-code", "codex", "cursor", "vscode", "gemini-cli", "go", "curl", "typescript", "python"];

const rest = (width) => [
  { name: "sessions", path: "/sessions", seen: main("A blank session") },
  { name: "session", path: "/sessions?id=default", seen: heading(/^Agents \(/) },
  { name: "session-unknown", path: "/sessions?id=none", seen: heading("Session “none” not found") },
  { name: "dialog-new-session", path: "/sessions", act: button("New session"), seen: dialog("New session") },
  { name: "dialog-close-session", path: "/sessions?id=blank", act: button("Close"), seen: dialog(/^Close the session/) },
  { name: "dialog-delete-session", path: "/sessions?id=blank", act: button("Delete"), seen: dialog(/^Delete the session/) },
  { name: "connect", path: "/connect", seen: heading(/^3\./) },
  // What has to be copied is below.
  ...clients.map((id) => ({ name: `connect-${id}`, path: `/connect?client=${id}`, act: (page) => heading(/^3\./)(page).evaluate((h) => h.scrollIntoView()), seen: heading(/^3\./) })),
  { name: "connect-key-shown-once", path: "/connect?client=codex", act: all((page) => page.getByLabel("Id", { exact: true }).fill(`visitor-${width}`), button("Create key")), seen: (page) => page.getByText(/is shown only once/) },
  { name: "search-empty", path: "/search", seen: heading("Search your messages") },
  { name: "search-hits", path: "/search?q=cormorants", seen: main("1 message") },
  { name: "search-none", path: "/search?q=zebra", seen: heading("No results") },
  { name: "search-no-such-space", path: "/search?q=x in:nowhere", seen: heading("No space named “nowhere”") },
  ...["profile", "appearance", "members", "keys", "audit", "usage", "server", "browser"].map((id) => ({ name: `settings-${id}`, path: `/settings?tab=${id}`, seen: (page) => page.getByRole("region").last() })),
  { name: "audit-checked", path: "/settings?tab=audit", act: button("Check the log"), seen: (page) => page.getByText(/^The log is complete: \d+ records, nothing changed or removed\.$/) },
  { name: "dialog-add-somebody", path: "/settings?tab=members", act: button("Add a participant"), seen: dialog("Add a participant") },
  { name: "dialog-change-entity", path: "/settings?tab=members", act: button("Edit Scout"), seen: dialog("Edit Scout") },
  { name: "dialog-delete-entity", path: "/settings?tab=members", act: button("Delete Scout"), seen: dialog("Delete Scout?") },
  { name: "dialog-create-key", path: "/settings?tab=keys", act: button("Create a key"), seen: dialog("Create a key") },
  { name: "dialog-create-key-limited", path: "/settings?tab=keys", act: all(button("Create a key"), ...[/^Do everything/, "In all spaces"].map((label) => (page) => page.getByRole("dialog").getByLabel(label).uncheck())), seen: (page) => page.getByRole("dialog").getByRole("checkbox", { name: "Welcome" }) },
  { name: "dialog-replace-key", path: "/settings?tab=keys", act: button(/^Replace/), seen: dialog(/^Replace the key/) },
  { name: "dialog-key-shown-once", path: "/settings?tab=keys", act: all(button("Create a key"), (page) => page.getByRole("dialog").getByLabel("Role", { exact: true }).selectOption("service"), button("Create")), seen: dialog("Copy the key now") },
  { name: "dialog-revoke-key", path: "/settings?tab=keys", act: button(/^Revoke/), seen: dialog(/^Revoke/) },
  { name: "dialog-palette", path: "/approvals", act: press("Control+k"), seen: (page) => page.getByRole("dialog").getByRole("option").first() },
  { name: "dialog-shortcuts", path: "/spaces/ledger", act: press("?"), seen: dialog("Keyboard shortcuts") },
  { name: "page-unknown", absolute: true, path: "/no/such/page", seen: heading("Page not found") },
  { name: "gallery", absolute: true, path: "/gallery", seen: heading("Tool calls") },
  { name: "spaces-of-an-empty-session", session: "blank", path: "/spaces", seen: heading("No spaces yet") },
];

/** All of them for a window of some width, the one that is being written first. */
export const scenes = (found, width) => [...spaces, ...approvals(found), ...runs(found), ...agents, ...plans, ...rest(width)].filter((s) => s.only === undefined || s.only === width);
