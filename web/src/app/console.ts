// Who uses this page, in which session, and as which entity.
import { createContext, useContext } from "react";
import type { Caller } from "@/client/types";

/** What every page knows. */
export interface Console {
  readonly me: Caller;
  /** The id of the session that the page is in. */
  readonly session: string;
  /** The entity that acts; null when an admin only looks, or for a service. */
  readonly actor: string | null;
  /** Whether agents, keys, plans, steps and usage are open to this caller. */
  readonly admin: boolean;
  /** Acts as another entity from now on (admins). */
  readonly setActor: (entity: string | null) => void;
}

export const ConsoleContext = createContext<Console | null>(null);

export function useConsole(): Console {
  const console = useContext(ConsoleContext);
  if (console === null) throw new Error("useConsole is used outside of a session");
  return console;
}
