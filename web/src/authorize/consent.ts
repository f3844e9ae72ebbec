// What a program asks a person for, and the answer.
import { api, call } from "@/api/client";
import { allPages, type Caller, type Entity, type Space } from "@shoal-dev/client";

/** What the server says about the request in the address of the page. */
export interface Request {
  /** The name that the program gives itself. */
  readonly client: string;
  /** Where the browser continues. */
  readonly host: string;
  /** Whether that is this machine. */
  readonly local: boolean;
  /** The host of the document that describes the program; empty for one that has registered, which nobody describes. */
  readonly document: string;
  /** An id for a new agent. */
  readonly agent: string;
  /** What the program asks for; empty if it leaves the choice to the person. */
  readonly scopes: readonly string[];
  /** Where the browser has to go at once, with an error; empty for a request that is right. */
  readonly url: string;
}

export interface Decision {
  readonly approve: boolean;
  readonly session: string;
  readonly agent: string;
  /** The name of a new agent; empty for one that exists. */
  readonly name: string;
  readonly spaces: readonly string[];
  readonly scopes: readonly string[];
}

export const describe = (query: string): Promise<Request> => call("POST", "/oauth/request", { query });

/** Sends the decision, and resolves with the address to go to. */
export const decide = async (query: string, decision: Decision): Promise<string> => (await call<{ url: string }>("POST", "/oauth/decision", { query, ...decision })).url;

/** The session in which a person decides. */
export const sessionOf = (me: Caller): string => me.sessionId ?? "default";

/** The agents as which the caller may let a program act. */
export async function agentsOf(me: Caller): Promise<Entity[]> {
  const all = await allPages((cursor) => api.GET("/v1/sessions/{session}/entities", { params: { path: { session: sessionOf(me) }, query: { limit: 200, cursor } } }));
  return lendable(all, me);
}

export function lendable(all: readonly Entity[], me: Caller): Entity[] {
  const manages = me.acts.includes("manage");
  return all.filter((e) => e.kind === "agent" && !e.hosted && (manages || (e.ownerId !== null && e.ownerId === me.entityId)));
}

/** The spaces to which the caller may add an agent. */
export async function spacesOf(me: Caller): Promise<Space[]> {
  const all = await allPages((cursor) => api.GET("/v1/sessions/{session}/spaces", { params: { path: { session: sessionOf(me) }, query: { limit: 200, cursor } } }));
  return all.filter((s) => s.status === "open");
}
