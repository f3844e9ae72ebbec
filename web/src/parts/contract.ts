// What a renderer of a tool's part is given, and what it may do.
import type { ComponentType } from "react";
import type { ToolPart } from "@shoal-dev/client";

export interface RendererProps {
  /** The tool's name. */
  readonly tool: string;
  /** The arguments; while they stream only the members that are whole. */
  readonly args: unknown;
  readonly argsStatus: "streaming" | "complete";
  /** The result; null until the call has one. */
  readonly result: unknown;
  readonly state: ToolPart["status"];
}

/** Draws a tool's part. It never draws what answers it: that is the console's own. */
export type Renderer = ComponentType<RendererProps>;
