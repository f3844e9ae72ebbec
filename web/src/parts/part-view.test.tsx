import { cleanup } from "@testing-library/react";
import { afterEach, expect, it } from "vitest";
import { message, text } from "@/space/testdata";
import { show } from "@/space/testworld";
import { PartView } from "./part-view";

afterEach(cleanup);

it.each([
  ["system", "Space closed: Sold."],
  ["ann", "Thread closed: Sold."],
])("what %s says about the end of a space is read as %j", async (entityId, words) => {
  const part = text({ text: "Thread closed: Sold." });
  const world = await show(<PartView message={message({ entityId, parts: [part] })} part={part} />, []);
  expect(world.container.textContent).toBe(words);
});
