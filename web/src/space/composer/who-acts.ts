// Who will act on a message, by the contract's rule (section 5): the mentioned
// agents if there are any, else the space's admin agent, else its only hosted one.
import type { Entity, Space } from "@shoal-dev/client";

/** Who acts, or why nobody does. */
export type WhoActs =
  /** The mentioned agents: hosted ones run, the others find it in their inboxes. */
  | { readonly by: "mention"; readonly agents: readonly string[] }
  /** Nobody is mentioned; this agent answers the space. */
  | { readonly by: "space"; readonly agent: string }
  /** No agent is in the space. */
  | { readonly by: "nobody"; readonly why: "no agents" }
  /** Agents are there, and none of them answers unasked. */
  | { readonly by: "nobody"; readonly why: "unasked" }
  /** The sender is an agent: it wakes only whom it mentions. */
  | { readonly by: "nobody"; readonly why: "sender is an agent" };

/** Says who acts on a message of `sender` that mentions `mentions`. `of` knows the entities. */
export function whoActs(space: Space, sender: string | null, mentions: readonly string[], of: (id: string) => Entity | undefined): WhoActs {
  const agents = space.members.filter((m) => m.kind === "agent" && m.entityId !== sender).map((m) => m.entityId);
  const mentioned = mentions.filter((id) => agents.includes(id));
  if (mentioned.length > 0) return { by: "mention", agents: mentioned };
  if (agents.length === 0) return { by: "nobody", why: "no agents" };
  if (space.members.some((m) => m.entityId === sender && m.kind === "agent")) return { by: "nobody", why: "sender is an agent" };
  const agent = answering(space, of);
  return agent === undefined ? { by: "nobody", why: "unasked" } : { by: "space", agent };
}

/** The agent that answers in a space when nobody is mentioned, if there is one. */
export function answering(space: Space, of: (id: string) => Entity | undefined): string | undefined {
  const hosted = space.members.filter((m) => of(m.entityId)?.hosted === true).map((m) => m.entityId);
  if (space.adminAgentId !== null) return hosted.includes(space.adminAgentId) ? space.adminAgentId : undefined;
  return hosted.length === 1 ? hosted[0] : undefined;
}
