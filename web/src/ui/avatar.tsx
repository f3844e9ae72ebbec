// The picture of a participant: initials in a circle for a person, a robot in a square for
// an agent, in a colour that an id always gets. It is beside the name and says nothing more.
import { Bot } from "lucide-react";
import type { CSSProperties } from "react";
import { classes } from "./classes";

/** How many colours there are. */
export const hues = 12;

const sizes = {
  /** Beside a name in a list. */
  small: "size-5 text-[0.625rem]",
  /** Beside a row of two lines. */
  medium: "size-8 text-xs",
  /** At the left of a message; beside the name in narrow columns. */
  message: "size-5 text-[0.625rem] sm:absolute sm:top-0.5 sm:-left-11 sm:size-8 sm:text-xs",
} as const;

interface Props {
  readonly id: string;
  readonly name: string;
  readonly kind: "human" | "agent";
  readonly size?: keyof typeof sizes;
}

export function Avatar({ id, name, kind, size = "small" }: Props) {
  return (
    <span aria-hidden style={{ "--hue": (360 / hues) * hueOf(id) + 15 } as CSSProperties} className={classes("avatar inline-flex shrink-0 items-center justify-center font-semibold select-none", kind === "agent" ? "rounded-md" : "rounded-full", sizes[size])}>
      {kind === "agent" ? <Bot className="size-[65%]" /> : initials(name)}
    </span>
  );
}

/** The colour of an id: the same on every page, in every browser. */
export function hueOf(id: string): number {
  let sum = 0x811c9dc5; // FNV-1a
  for (let i = 0; i < id.length; i++) sum = Math.imul(sum ^ id.charCodeAt(i), 0x01000193) >>> 0;
  return (Math.imul(sum ^ (sum >>> 15), 0x85ebca6b) >>> 16) % hues;
}

/** The first letters of the first and the last word of a name. */
export function initials(name: string): string {
  const words = name.split(/[^\p{L}\p{N}\p{M}]+/u).filter((w) => w !== "");
  const letters = [words[0], words.length > 1 ? words.at(-1) : undefined].map((w) => [...(w ?? "")][0] ?? "");
  return letters.join("").toLocaleUpperCase() || "?";
}
