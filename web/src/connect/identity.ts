// The identity of a client: a new or an existing agent, the spaces that it joins, and its
// key.
import { api } from "@/api/client";
import { type Entity, type Key, ShoalError } from "@shoal-dev/client";

/** The agent to connect. */
export interface Wanted {
  readonly session: string;
  readonly entity: string;
  /** The spaces to join. */
  readonly spaces: readonly string[];
}

/** The result. */
export interface Connected {
  readonly key: Key;
  readonly entity: Entity;
  /** The spaces that it could not join, with the reason. */
  readonly refused: readonly { readonly space: string; readonly why: string }[];
}

// Calls act as no entity: an admin adds members to spaces that it is not a member of.
const asNobody = { "X-Shoal-Entity": "" } as const;

/** Creates a key for an entity, which is created if it is new, and adds the entity to spaces. */
export async function connect({ session, entity, spaces }: Wanted): Promise<Connected> {
  const key = await api.POST("/v1/keys", { headers: asNobody, body: { role: "entity", sessionId: session, entityId: entity, name: "made on the Connect page" } });
  const refused: { space: string; why: string }[] = [];
  for (const space of spaces) {
    try {
      await api.PUT("/v1/sessions/{session}/spaces/{space}/members/{entity}", { headers: asNobody, params: { path: { session, space, entity } } });
    } catch (error) {
      refused.push({ space, why: ShoalError.from(error).message });
    }
  }
  const made = await api.GET("/v1/sessions/{session}/entities/{entity}", { headers: asNobody, params: { path: { session, entity } } });
  return { key, entity: made, refused };
}

/** Explains why an id is invalid; undefined if it is valid. */
export function wrongID(id: string): string | undefined {
  if (id === "") return "Enter an id for mentions, such as scout.";
  if (id.length > 64) return "At most 64 characters.";
  if (!/^[A-Za-z0-9_.-]+$/.test(id)) return "Only letters, digits, and _ . - are allowed.";
  if (id === "system" || id === "." || id === "..") return "This name is reserved.";
  return undefined;
}
