// What a pending action is about. It has a file of its own because spaces need no more of the inbox.
import type { PendingAction } from "@shoal-dev/client";
import { label } from "@/parts/renderers/words";

/** What an action is about, on one line: the question, or the tool's name in words. */
export function subject(p: PendingAction): string {
  return p.question !== null && p.question !== "" ? p.question : label(p.toolName);
}
