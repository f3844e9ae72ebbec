// As whom a client connects: a new agent or one that is there, with the spaces
// that it joins and the key that proves it.
import { api } from "@/api/client";
import { Problem } from "@/client/problem";
import type { Entity, Key } from "@/client/types";

/** Who is to be connected. */
export interface Wanted {
  readonly session: string;
  readonly entity: string;
  /** The spaces that it is to be in. */
  readonly spaces: readonly string[];
}

/** What came of it. */
export interface Connected {
  readonly key: Key;
  readonly entity: Entity;
  /** Spaces that it could not join, with the reason. */
  readonly refused: readonly { readonly space: string; readonly why: string }[];
}

// Nobody acts here: an admin adds members to spaces that it is not in itself.
const asNobody = { "X-Shoal-Entity": "" } as const;

/** Mints a key for an entity, which is made if it is new, and adds it to spaces. */
export async function connect({ session, entity, spaces }: Wanted): Promise<Connected> {
  const key = await api.POST("/v1/keys", { headers: asNobody, body: { role: "entity", sessionId: session, entityId: entity, name: "connected from the console" } });
  const refused: { space: string; why: string }[] = [];
  for (const space of spaces) {
    try {
      await api.PUT("/v1/sessions/{session}/spaces/{space}/members/{entity}", { headers: asNobody, params: { path: { session, space, entity } } });
    } catch (error) {
      refused.push({ space, why: Problem.from(error).message });
    }
  }
  const made = await api.GET("/v1/sessions/{session}/entities/{entity}", { headers: asNobody, params: { path: { session, entity } } });
  return { key, entity: made, refused };
}

/** Says what is wrong with an id, undefined if it may be one (contract, head). */
export function wrongID(id: string): string | undefined {
  if (id === "") return "Give it a name that others will mention, such as scout.";
  if (id.length > 64) return "At most 64 characters.";
  if (!/^[A-Za-z0-9_.-]+$/.test(id)) return "Only letters, digits, and _ . - are allowed.";
  if (id === "system" || id === "." || id === "..") return "This name is reserved.";
  return undefined;
}
