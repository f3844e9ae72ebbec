// A data part that offers messages to send: {"prompts": ["…"]}.
import { isShown, type Part } from "@shoal-dev/client";
import { member } from "./renderers/shape";

const most = 6;
const longest = 200;

/** The messages that a part offers; empty for any other part. What is too long to be read whole is not offered. */
export function promptsOf(part: Part): readonly string[] {
  if (!isShown(part) || part.type !== "data" || part.name !== "prompts") return [];
  const list = member(part.data, "prompts");
  if (!Array.isArray(list)) return [];
  const texts = list.filter((t): t is string => typeof t === "string" && t.trim() !== "" && t.length <= longest);
  return [...new Set(texts.map((t) => t.trim()))].slice(0, most);
}
