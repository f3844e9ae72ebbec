// The fixed data of the gallery: a part for every look and every state.
import type { Part, PendingAction, ToolPart } from "@shoal-dev/client";

/** A tool's part with what matters of it. */
export function tool(some: Partial<ToolPart> & { toolName: string }): ToolPart {
  return { id: `prt_${some.toolName}`, type: "tool_call", toolCallId: "call-1", args: {}, result: null, error: null, status: "done", display: null, answeredBy: null, editedArgs: null, decision: null, targetEntityId: null, ...some };
}

/** What waits, with what matters of it. */
export function pending(some: Partial<PendingAction>): PendingAction {
  return {
    id: "pnd_1", kind: "client_tool", runId: "run_1", agentId: "shop-agent", spaceId: "shop", messageId: "msg_1", partId: "prt_1", toolCallId: "call-1", toolName: "showProductCard",
    args: {}, question: null, options: null, resultSchema: null, status: "open", expiresAt: null, createdAt: "2026-11-20T10:00:00.000Z", answeredBy: null, answeredAt: null, by: null, quorum: 1, notRequester: false, choose: null, votes: [], eligible: 1, requesters: [], argsHash: "", argsSchema: null, editedArgs: null, decision: null, triggerText: null, triggerEditedAt: null, ...some,
  };
}

export const product = { name: "Lark Air 13", about: "light, 16 hours of battery", price: 1199, currency: "USD", inStock: true };
export const chosen = { type: "object", properties: { chosen: { type: "boolean" } }, required: ["chosen"] };
const order = { product: "Lark Air 13", price: 1199 };
const card = { customUI: "ProductCard" };
const approved = { approved: true, by: "ada", reason: null, ask: null };

/** Every state of a tool's part. */
export const states: readonly { readonly title: string; readonly part: ToolPart; readonly over?: boolean; readonly pending?: PendingAction; readonly took?: number }[] = [
  { title: "Being written", part: tool({ toolName: "showProductCard", display: card, status: "input_streaming", args: { name: "Lark Air 13" } }) },
  { title: "Running", part: tool({ toolName: "searchInventory", status: "running", args: { query: "laptop" } }) },
  { title: "Waiting for a choice", part: tool({ toolName: "showProductCard", display: card, status: "requires_action", args: product }), pending: pending({ resultSchema: chosen }) },
  { title: "Waiting for a permission", part: tool({ toolName: "placeOrder", status: "requires_action", args: order }), pending: pending({ kind: "permission", toolName: "placeOrder", args: order }) },
  { title: "Waiting, nothing known", part: tool({ toolName: "placeOrder", status: "requires_action", args: order }) },
  { title: "Done, folded", part: tool({ toolName: "searchInventory", args: { query: "laptop" }, result: { found: 3 } }), took: 412 },
  { title: "Answered", part: tool({ toolName: "showProductCard", display: card, args: product, result: { chosen: true }, answeredBy: "ada" }), pending: pending({ status: "answered", answeredBy: "ada", answeredAt: "2026-11-20T14:07:00.000Z" }) },
  { title: "Approved", part: tool({ toolName: "placeOrder", display: { mode: "full" }, args: order, result: order, answeredBy: "ada" }), pending: pending({ kind: "permission", status: "answered", answeredBy: "ada", answeredAt: "2026-11-20T14:07:00.000Z", decision: approved }) },
  { title: "Approved with changes", part: tool({ toolName: "placeOrder", display: { mode: "full" }, args: order, editedArgs: { ...order, price: 1100 }, result: { orderId: "A-1" }, answeredBy: "ada" }), pending: pending({ kind: "permission", status: "answered", editedArgs: { ...order, price: 1100 }, answeredBy: "ada", answeredAt: "2026-11-20T14:07:00.000Z", decision: approved }) },
  { title: "Denied", part: tool({ toolName: "placeOrder", status: "denied", args: order, error: "Permission denied by ada. The call was not executed. Reason: too dear", answeredBy: "ada", decision: { approved: false, by: "ada", reason: "too dear", ask: null } }) },
  { title: "Failed", part: tool({ toolName: "searchInventory", status: "error", args: { query: "laptop" }, error: "The server of the shop answered 503. Try again in a minute." }), took: 30_000 },
  { title: "Canceled", part: tool({ toolName: "placeOrder", status: "canceled", display: { mode: "full" }, args: order }) },
  { title: "Interrupted", part: tool({ toolName: "searchInventory", status: "running", display: { mode: "full" }, args: { query: "laptop" } }), over: true },
  { title: "Expired", part: tool({ toolName: "placeOrder", status: "denied", args: order, error: "Permission denied. The call was not executed. Reason: Nobody answered in time." }), pending: pending({ kind: "permission", status: "expired" }) },
];

const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun"];
const sales = months.map((month, i) => ({ month, laptops: 40 + i * 9, phones: 80 - i * 6 }));

/** Every renderer by its name. */
export const looks: readonly { readonly title: string; readonly value: unknown; readonly hint?: "markdown" | "code" | "diff" | "image" | "file" | "table" | "json" }[] = [
  { title: "Names and values", value: { orderId: "A-1042", placed: "2026-11-20T10:00:00Z", contact: "ada@example.com", page: "https://shop.example/orders/1042", gift: false, note: null, total: { amount: 1199.5, currency: "EUR" } } },
  { title: "A product", value: product },
  { title: "A table", value: sales.map((s) => ({ ...s, growth: s.laptops - s.phones, note: "as planned" })) },
  { title: "A long table", value: { rows: Array.from({ length: 450 }, (_, i) => ({ n: i + 1, name: `Item ${i + 1}`, price: (i * 37) % 900 })) }, hint: "table" },
  { title: "Bars", value: { type: "bar", title: "Sold", x: "month", y: ["laptops", "phones"], data: sales, unit: "pieces" } },
  { title: "Lines", value: { type: "line", x: "month", y: ["laptops", "phones"], data: sales } },
  { title: "Area", value: { type: "area", x: "day", y: ["visits"], data: Array.from({ length: 200 }, (_, i) => ({ day: i + 1, visits: Math.round(500 + 300 * Math.sin(i / 12)) })) } },
  { title: "Slices", value: { type: "pie", title: "Share", x: "name", y: ["part"], data: [{ name: "Laptops", part: 55 }, { name: "Phones", part: 30 }, { name: "Other", part: 15 }] } },
  { title: "Code", value: { language: "go", code: 'package main\n\nimport "fmt"\n\n// main says hello.\nfunc main() {\n\tfmt.Println("hello", 42)\n}' }, hint: "code" },
  { title: "Changes", value: { path: "config.yaml", before: "name: shop\nmodel: small\nsteps: 5\n", after: "name: shop\nmodel: large\nsteps: 5\nbudget: 10\n" }, hint: "diff" },
  { title: "A picture in the value", value: { mimeType: "image/png", alt: "A blue square", data: "iVBORw0KGgoAAAANSUhEUgAAACAAAAAgCAIAAAD8GO2jAAAAKklEQVR42mPgTuqgKWIYtWDUglELRi0YtWDUglELRi0YtWDUglELhooFALQs1C41q++KAAAAAElFTkSuQmCC" }, hint: "image" },
  { title: "A picture elsewhere", value: { url: "https://pictures.example.com/cat.png", alt: "A cat" }, hint: "image" },
  { title: "A file", value: { name: "report.pdf", mediaType: "application/pdf", size: 1_240_000, url: "/v1/sessions/default/files/fil_1" }, hint: "file" },
  { title: "Content of an MCP tool", value: { content: [{ type: "text", text: "**Two** results:" }, { type: "resource_link", name: "notes.txt", mimeType: "text/plain", uri: "https://kb.example/notes.txt" }] } },
  { title: "Any JSON", value: { deep: { list: [1, 2, { three: [true, null, "text"] }] }, empty: {}, wide: Array.from({ length: 30 }, (_, i) => i) } },
];

export const prose = `A paragraph with **bold**, *italic*, ~~struck~~, \`code\` and a [link](https://example.com/page) whose host is shown; https://example.com/ shows it itself.

## A heading

1. One
2. Two

   with a second paragraph
3. Three
   - inner
   - [x] done
   - [ ] not done

> A quote
> of two lines.

| Name | Price |
| --- | ---: |
| Lark Air 13 | 1199 |
| Wren 14 | 749 |

A [reference link][ref], \`Vec<u8>\` and Vec<u8>, <b>raw HTML</b> is not drawn.

![A picture of another server](https://pictures.example.com/a.png)

Hidden: a\u200bb, \u202eevil\u202c, tags \u{e0069}\u{e0067}\u{e006e}\u{e006f}\u{e0072}\u{e0065}. Not hidden: 👩‍👩‍👧, می‌خواهم.

\`\`\`python
def greet(name: str) -> str:
    # says hello
    return f"hello {name}"
\`\`\`

---

[ref]: https://docs.example.org/ "A title"
`;

/** Files and data. */
export const parts: readonly { readonly title: string; readonly part: Part }[] = [
  { title: "A file of this server", part: { id: "prt_f1", type: "file", name: "report.pdf", mediaType: "application/pdf", size: 1_240_000, url: "/v1/sessions/default/files/fil_1" } },
  { title: "A file elsewhere", part: { id: "prt_f2", type: "file", name: "numbers.csv", mediaType: "text/csv", size: 812, url: "https://files.example/numbers.csv" } },
  { title: "A picture elsewhere", part: { id: "prt_f3", type: "file", name: "cat.png", mediaType: "image/png", size: 48_000, url: "https://pictures.example.com/cat.png" } },
  { title: "Data", part: { id: "prt_d1", type: "data", name: "order", data: { orderId: "A-1042", paid: true } } },
  { title: "Data named chart", part: { id: "prt_d2", type: "data", name: "chart", data: { type: "bar", x: "month", y: ["laptops"], data: sales } } },
  { title: "Messages to send", part: { id: "prt_d4", type: "data", name: "prompts", data: { prompts: ["I need a laptop", "Who are you?"] } } },
  { title: "No data", part: { id: "prt_d3", type: "data", name: "nothing", data: {} } },
];

/** Every way to answer. */
export const answers: readonly { readonly title: string; readonly pending: PendingAction; readonly blocked?: string }[] = [
  { title: "Acknowledge", pending: pending({}) },
  { title: "Yes or no", pending: pending({ resultSchema: chosen }) },
  { title: "One of several alternatives", pending: pending({ resultSchema: chosen, choose: "one" }) },
  { title: "One of some", pending: pending({ resultSchema: { type: "object", properties: { colour: { enum: ["red", "green", "blue"], title: "Colour", description: "Which one do you like?" } }, required: ["colour"] } }) },
  { title: "Permission", pending: pending({ kind: "permission", toolName: "placeOrder", args: order }) },
  {
    title: "Permission of several",
    pending: pending({
      kind: "permission", toolName: "placeOrder", args: order, quorum: 2, notRequester: true, requesters: ["ada"], eligible: 1,
      votes: [{ entityId: "uma", at: "2026-11-20T10:05:00.000Z", approved: true, result: null, error: null, editedArgs: null }, { entityId: "ben", at: "2026-11-20T10:06:00.000Z", approved: true, result: null, error: null, editedArgs: { product: "Lark Air 13", price: 1100 } }],
    }),
  },
  { title: "Permission, arguments can be edited", pending: pending({ kind: "permission", toolName: "placeOrder", args: order, requesters: ["ada"], argsSchema: { type: "object", properties: { product: { type: "string" }, price: { type: "number" } }, required: ["product", "price"] } }) },
  { title: "Question with options", pending: pending({ kind: "question", toolName: "ask_user", question: "Which city do you mean?", options: ["Paris, France", "Paris, Texas"] }) },
  { title: "Question", pending: pending({ kind: "question", toolName: "ask_user", question: "What is the name of the project?" }) },
  { title: "Offline", pending: pending({ resultSchema: chosen }), blocked: "Server unreachable. Answers are disabled until it's back." },
  { title: "Expired", pending: pending({ resultSchema: chosen, expiresAt: "2020-01-01T00:00:00.000Z" }) },
  {
    title: "Form",
    pending: pending({
      resultSchema: {
        type: "object", description: "Where to send it.", required: ["name", "quantity", "express", "address"], $defs: { zip: { type: "string", pattern: "^[0-9]{5}$", title: "Postal code" } },
        properties: {
          name: { type: "string", title: "Name", minLength: 2 }, email: { type: "string", format: "email" }, quantity: { type: "integer", minimum: 1, maximum: 20, default: 1 }, express: { type: "boolean", description: "Costs 10 more." },
          size: { oneOf: [{ const: 13, title: "13 inch" }, { const: 16, title: "16 inch" }] }, voucher: { type: ["string", "null"] }, tags: { type: "array", items: { type: "string" }, maxItems: 3 },
          address: { type: "object", required: ["zip"], properties: { street: { type: "string" }, zip: { $ref: "#/$defs/zip" } } }, notes: { type: "string", format: "multiline" }, extra: { type: "object" },
        },
      },
    }),
  },
];
