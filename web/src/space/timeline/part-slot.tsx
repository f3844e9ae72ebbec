// One part of a message in its place. It is drawn again only when the part itself
// has changed.
import { memo } from "react";
import { isShown, type Message, type Part } from "@shoal-dev/client";
import { PartView } from "@/parts/part-view";
import { promptsOf } from "@/parts/prompts";
import { Prompts } from "./prompts";

interface Props {
  readonly message: Message;
  readonly part: Part;
  /** Nobody writes it any more: what is unfinished stays so. */
  readonly ended: boolean;
}

export const PartSlot = memo(
  function PartSlot({ message, part, ended }: Props) {
    const shown = ended ? interrupted(part) : part;
    const prompts = promptsOf(shown);
    if (prompts.length > 0) return <Prompts message={message} prompts={prompts} />;
    return <PartView message={message} part={shown} />;
  },
  // The message changes with every delta of any of its parts; of it a part needs
  // only what stays.
  (a, b) => a.part === b.part && a.ended === b.ended && a.message.status === b.message.status,
);

/** A part whose writer is gone: what streams or runs is interrupted. */
export function interrupted(part: Part): Part {
  if (!isShown(part)) return part;
  if (part.type === "text" && part.status === "streaming") return { ...part, status: "interrupted" };
  if (part.type === "tool_call" && (part.status === "input_streaming" || part.status === "running")) return { ...part, status: "interrupted" };
  return part;
}
