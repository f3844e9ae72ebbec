// Who uses this page: the caller, its session, and the entity that acts.
import { createContext, useContext } from "react";
import type { Caller } from "@shoal-dev/client";

/** What a role allows, by the names of docs/roles.md; and "admin", what only an admin key does. */
export type Act = "admin" | "see_everything" | "present" | "post" | "approve" | "leave_space" | "create_space" | "connect_agent" | "change_space" | "moderate" | "control_run" | "read_models" | "read_settings" | "read_invites" | "read_audit" | "invite" | "manage";

/** The context of every page. */
export interface Console {
  readonly me: Caller;
  /** The id of the session that the page is in. */
  readonly session: string;
  /** The entity that acts; null for a service, and for an admin that acts as none. */
  readonly actor: string | null;
  /** Whether the caller has an admin key: it acts as anybody, and in every session. */
  readonly admin: boolean;
  /** Whether the caller's role allows an act. It decides what is offered; the server decides what is done. */
  readonly may: (act: Act) => boolean;
  /** Changes the entity that acts (admins). */
  readonly setActor: (entity: string | null) => void;
}

export const ConsoleContext = createContext<Console | null>(null);

export function useConsole(): Console {
  const console = useContext(ConsoleContext);
  if (console === null) throw new Error("no session");
  return console;
}
