// The tabs of the agent page, and on which of them a field of the config is shown.
import { type Path, pathText, within } from "./json";

export type TabId = "instructions" | "model" | "tools" | "triggers" | "limits" | "memory" | "text" | "versions";

const places: readonly { readonly path: Path; readonly tab: TabId }[] = [
  { path: ["agent", "id"], tab: "text" },
  { path: ["agent"], tab: "instructions" },
  { path: ["model"], tab: "model" },
  { path: ["tools"], tab: "tools" },
  { path: ["mcp"], tab: "tools" },
  { path: ["loop", "onNewMessage"], tab: "triggers" },
  { path: ["loop", "settleMs"], tab: "triggers" },
  { path: ["loop"], tab: "limits" },
  { path: ["context"], tab: "limits" },
  { path: ["access"], tab: "limits" },
  { path: ["invite"], tab: "limits" },
  { path: ["budget"], tab: "limits" },
  { path: ["reply"], tab: "triggers" },
];

/** The tab on which the field at a path is changed; the whole text for what no form has. */
export function tabOf(path: Path): TabId {
  return places.find((p) => within(path, p.path))?.tab ?? "text";
}

/** What is wrong at a place of the config. */
export interface Wrong {
  readonly path: Path;
  readonly message: string;
}

/** How many wrong fields each tab has. */
export function countByTab(wrongs: readonly Wrong[]): Partial<Record<TabId, number>> {
  const counts: Partial<Record<TabId, number>> = {};
  for (const w of wrongs) counts[tabOf(w.path)] = (counts[tabOf(w.path)] ?? 0) + 1;
  return counts;
}

/** What is wrong with the field at a path; with `deep` also what is wrong inside of it. */
export function wrongAt(wrongs: readonly Wrong[], path: Path, deep = false): string | undefined {
  const found = wrongs.filter((w) => (deep ? within(w.path, path) : w.path.length === path.length && within(w.path, path)));
  if (found.length === 0) return undefined;
  return found.map((w) => (w.path.length > path.length ? `${pathText(w.path.slice(path.length))} ${w.message}` : sentence(w.message))).join("\n");
}

const sentence = (text: string): string => `It ${text}.`.replace(/\.\.$/, ".");
