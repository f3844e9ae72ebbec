// The parts of a message in their order; cards that belong together are side by side.
import { isShown, type Message, type Part } from "@shoal-dev/client";
import { isCard, takesRow } from "@/parts/tool/reading";
import { classes } from "@/ui/classes";
import { PartSlot } from "./part-slot";

/** Runs of cards of one tool, which are options of one choice; every other part alone. */
export function inGroups(parts: readonly Part[]): readonly (readonly Part[])[] {
  const groups: Part[][] = [];
  for (const part of parts) {
    const last = groups.at(-1);
    if (last?.[0] !== undefined && isOption(part) && isOption(last[0]) && sameTool(last[0], part)) last.push(part);
    else groups.push([part]);
  }
  return groups;
}

function isOption(part: Part): boolean {
  return isShown(part) && part.type === "tool_call" && isCard(part, false) && !takesRow(part);
}

function sameTool(a: Part, b: Part): boolean {
  return isShown(a) && isShown(b) && a.type === "tool_call" && b.type === "tool_call" && a.toolName === b.toolName;
}

/** `ended`: nobody writes the message any more. */
export function Parts({ message, ended }: { message: Message; ended: boolean }) {
  return inGroups(message.parts).map((group) => (
    // Every group has its frame, so that a part stays in place when another one joins it.
    <div key={group[0]?.id} className={classes("grid min-w-0 grid-cols-1 items-start gap-2", group.length > 1 && "sm:grid-cols-2", group.length > 2 && group.length !== 4 && "2xl:grid-cols-3")}>
      {group.map((part) => (
        <PartSlot key={part.id} message={message} part={part} ended={ended} />
      ))}
    </div>
  ));
}
