// Who uses this page: the caller, its session, and the entity that acts.
import { createContext, useContext } from "react";
import type { Caller } from "@shoal-dev/client";

/** The context of every page. */
export interface Console {
  readonly me: Caller;
  /** The id of the session that the page is in. */
  readonly session: string;
  /** The entity that acts; null for a service, and for an admin that acts as none. */
  readonly actor: string | null;
  /** Whether the caller may use agents, keys, plans, steps and usage. */
  readonly admin: boolean;
  /** Changes the entity that acts (admins). */
  readonly setActor: (entity: string | null) => void;
}

export const ConsoleContext = createContext<Console | null>(null);

export function useConsole(): Console {
  const console = useContext(ConsoleContext);
  if (console === null) throw new Error("useConsole is used outside of a session");
  return console;
}
