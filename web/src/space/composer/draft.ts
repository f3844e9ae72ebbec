// What somebody has begun to write, for each space and writer, kept over a reload.
import { inBrowser } from "@/app/storage";

const name = (session: string, actor: string | null, space: string) => `shoal.draft.${session}.${actor ?? ""}.${space}`;

/** The draft of a space; empty if there is none. */
export function draft(session: string, actor: string | null, space: string): string {
  return inBrowser.getItem(name(session, actor, space)) ?? "";
}

/** Keeps a draft; an empty one is forgotten. */
export function keepDraft(session: string, actor: string | null, space: string, text: string): void {
  if (text === "") inBrowser.removeItem(name(session, actor, space));
  else inBrowser.setItem(name(session, actor, space), text);
}
