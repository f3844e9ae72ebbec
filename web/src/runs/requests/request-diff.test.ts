// What is new in a request to a model, and how words are found in it.
import { describe, expect, test } from "vitest";
import type { ModelMessage, ModelRequest } from "@shoal-dev/client";
import { contentText, messageHas, diffRequests, pieces } from "./request-diff";

const say = (role: string, text: string): ModelMessage => ({ role, content: [{ type: "text", text }] });
const request = (some: Partial<ModelRequest>): ModelRequest => ({ model: "gpt", system: "Be kind.", tools: [], messages: [], ...some });

describe("diffRequests", () => {
  test("marks what was not sent in the step before", () => {
    const before = request({ messages: [say("user", "Hi"), say("assistant", "Hello")] });
    const now = request({ messages: [say("user", "Hi"), say("assistant", "Hello"), say("user", "Hi")], system: "Be brief." });
    expect(diffRequests(before, now)).toEqual({ fresh: [false, false, true], dropped: 0, system: true, tools: new Set() });
  });

  test("counts what a shortened history does not send any more", () => {
    const before = request({ messages: [say("user", "1"), say("user", "2"), say("user", "3")] });
    expect(diffRequests(before, request({ messages: [say("user", "3"), say("user", "4")] }))).toMatchObject({ fresh: [false, true], dropped: 2 });
  });

  test("names tools that are new or have changed", () => {
    const tool = (name: string, description: string) => ({ name, description, inputSchema: {} });
    const news = diffRequests(request({ tools: [tool("a", "x"), tool("b", "x")] }), request({ tools: [tool("a", "x"), tool("b", "y"), tool("c", "x")] }));
    expect([...news.tools]).toEqual(["b", "c"]);
  });

  test("marks nothing in the first step", () => {
    expect(diffRequests(undefined, request({ messages: [say("user", "Hi")] })).fresh).toEqual([false]);
  });
});

describe("searching", () => {
  test("finds words in texts, calls and results, in any case", () => {
    const call: ModelMessage = { role: "assistant", content: [{ type: "tool_call", toolCallId: "1", toolName: "lookUp", args: { city: "Kiel" } }] };
    expect([messageHas(call, "kiel"), messageHas(call, "LOOKUP"), messageHas(call, "Rome")]).toEqual([true, true, false]);
  });

  test("cuts a text so that every second piece is a hit, and together they are the text", () => {
    expect(pieces("Rain, rain and RAIN", "rain")).toEqual(["", "Rain", ", ", "rain", " and ", "RAIN", ""]);
    expect(pieces("no hit", "x").join("")).toBe("no hit");
    expect(pieces("İstanbul", "i").join("")).toBe("İstanbul");
  });

  test("shows the known data of a file", () => {
    expect(contentText({ type: "file", name: "a.png", mediaType: "image/png", size: 12, url: null })).toBe("a.png, image/png, 12 bytes");
  });
});
