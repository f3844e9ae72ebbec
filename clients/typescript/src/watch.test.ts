import { expect, it } from "vitest";
import type { Message } from "./types.js";
import { textOf } from "./watch.js";

it("the text of a message is its text parts, with an empty line between two", () => {
  const parts: Message["parts"] = [
    { id: "p0", type: "text", status: "done", text: "Both are in stock." },
    { id: "p1", type: "data", name: "stock", data: {} },
    { id: "p2", type: "text", status: "done", text: "Want one?" },
  ];
  expect(textOf({ parts })).toBe("Both are in stock.\n\nWant one?");
  expect(textOf({ parts: [] })).toBe("");
});
