// Draws the calls of display tools with components of the program.
import { type ComponentType, createContext, createElement, type ReactNode, useCallback, useContext } from "react";
import { isShown, type Part, type PendingAction, type PendingAnswer, type ToolPart } from "@shoal-dev/client";
import { useAnswer, usePendingActionOf } from "./pending.js";

/** What the component of a tool gets in every state of the call. */
interface AnyCall<Result> {
  readonly part: ToolPart;
  /** What the tool, or a person, returned; null until then. */
  readonly result: Result | null;
  /** Why it failed or was refused; null if it did not. */
  readonly error: string | null;
  /** What the call waits for; undefined if it waits for nothing. */
  readonly action: PendingAction | undefined;
  /** Returns the result of a client tool, for example what a person has chosen. */
  readonly submit: (result: Result) => Promise<PendingAction>;
  /** Answers the action in any other way: `{approved}`, `{answer}` or `{error}`. */
  readonly answer: (answer: PendingAnswer) => Promise<PendingAction>;
}

/**
 * The props of the component of a tool. While the model writes the arguments, `status` is
 * `input_streaming` and `args` has those that are complete.
 */
export type ToolProps<Args extends object = Record<string, unknown>, Result = unknown> = AnyCall<Result> &
  ({ readonly status: "input_streaming"; readonly args: Partial<Args> } | { readonly status: "running" | "requires_action" | "done" | "error" | "denied" | "canceled"; readonly args: Args });

/** Components by the name of a tool, or by its `display.customUI`, which comes first. */
export type Renderers = Readonly<Record<string, ComponentType<any>>>;

/** Checks that each component takes the props of a tool. Create them outside of components. */
export function createRenderers<T extends Readonly<Record<string, ComponentType<ToolProps<any, any>>>>>(renderers: T): T {
  return renderers;
}

/** The renderers of the provider. */
export const RenderersContext = /* @__PURE__ */ createContext<Renderers>({});

/** The component that draws a part of a message; undefined if it is not a tool call, or no component is registered for it. */
export function useRenderer(part: Part): Renderers[string] | undefined {
  const renderers = useContext(RenderersContext);
  if (part.type !== "tool_call" || !isShown(part)) return undefined;
  const { customUI } = (part.display ?? {}) as { customUI?: unknown };
  return own(renderers, customUI) ?? own(renderers, part.toolName);
}

// A tool may be called "constructor".
function own(renderers: Renderers, name: unknown): Renderers[string] | undefined {
  return typeof name === "string" && Object.hasOwn(renderers, name) ? renderers[name] : undefined;
}

/** What `ToolCall` draws. */
export interface ToolCallProps {
  readonly part: Part;
  /** Draws calls of tools without a renderer; without it they are not shown. */
  readonly fallback?: ComponentType<ToolProps>;
}

/** Draws a tool call with the component that is registered for it. It draws nothing for other parts, and for those that are private to another member. */
export function ToolCall({ part, fallback }: ToolCallProps): ReactNode {
  const component: ComponentType<ToolProps> | undefined = useRenderer(part) ?? fallback;
  if (component === undefined || part.type !== "tool_call" || !isShown(part)) return null;
  return createElement(Call, { part: part as ToolPart, component });
}

function Call({ part, component }: { readonly part: ToolPart; readonly component: ComponentType<ToolProps> }): ReactNode {
  const action = usePendingActionOf(part.id);
  const send = useAnswer();
  const id = action?.id;
  const answer = useCallback((answer: PendingAnswer) => (id === undefined ? Promise.reject(new Error("The call waits for no answer.")) : send(id, answer)), [send, id]);
  const submit = useCallback((result: unknown) => answer({ result: result ?? null }), [answer]);
  const { args, result, error, status } = part;
  return createElement(component, { part, args, result, error, status, action, submit, answer } as ToolProps);
}
