// The bodies of answers, as text: so a number keeps every digit that was typed.

/** Of a client tool: its result, which is JSON already. */
export const resultBody = (json: string): string => `{"result":${json}}`;
/** Of a client tool that gives no result. */
export const errorBody = (why: string): string => JSON.stringify({ error: why });
/** Of a question. */
export const questionBody = (answer: string): string => JSON.stringify({ answer });

/** Which later calls a decision answers, and for how long. */
export interface Remembering {
  readonly scope: "call" | "tool";
  readonly forMs: number;
}

interface Decision {
  readonly approved: boolean;
  readonly reason: string;
  readonly remember?: Remembering | undefined;
  /** Arguments that run in place of the model's, as JSON text. */
  readonly args?: string | undefined;
}

/** Of a permission. */
export function permissionBody({ approved, reason, remember, args }: Decision): string {
  const rest = JSON.stringify({ approved, ...(reason !== "" && { reason }), ...(remember !== undefined && { remember: { decision: approved ? "allow" : "deny", ...remember } }) });
  return args === undefined ? rest : `${rest.slice(0, -1)},"args":${args}}`;
}

/** Of a permission that goes back to the agent with a question. */
export const askBody = (ask: string): string => JSON.stringify({ approved: false, ask });

/** An answer for exactly the arguments that its reader saw, and for equal open calls if `alsoEqual`. */
export function boundBody(body: string, argsHash: string, alsoEqual: boolean): string {
  const more = { ...(argsHash !== "" && { argsHash }), ...(alsoEqual && { alsoEqual }) };
  return Object.keys(more).length === 0 ? body : `${body.slice(0, -1)},${JSON.stringify(more).slice(1)}`;
}

/** The result of a client tool that asks for nothing: somebody has seen it. */
export const acknowledged = `{"acknowledged":true}`;
