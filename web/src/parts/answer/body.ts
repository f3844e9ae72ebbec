// The bodies of answers, as text: so a number keeps every digit that was typed.

/** Of a client tool: its result, which is JSON already. */
export const resultBody = (json: string): string => `{"result":${json}}`;
/** Of a client tool that gives no result. */
export const errorBody = (why: string): string => JSON.stringify({ error: why });
/** Of a question. */
export const questionBody = (answer: string): string => JSON.stringify({ answer });

/** Of a permission. `always` remembers it for later calls of the tool. */
export function permissionBody(approved: boolean, reason: string, always: boolean): string {
  return JSON.stringify({ approved, ...(reason !== "" && { reason }), ...(always && { remember: approved ? "allow" : "deny" }) });
}

/** The result of a client tool that asks for nothing: somebody has seen it. */
export const acknowledged = `{"acknowledged":true}`;
