// The palette: a field and the commands that match it. The field keeps the focus; arrow
// keys move through the list (a combobox of the ARIA practices).
import { useNavigate } from "@tanstack/react-router";
import { Search } from "lucide-react";
import { type KeyboardEvent, useEffect, useId, useMemo, useRef, useState } from "react";
import { useConsole } from "@/app/console";
import { classes } from "@/ui/classes";
import { useFocusBack } from "@/ui/dialog";
import { type Command, useCommands } from "./commands";
import { fitting } from "./fuzzy";

const most = 40;
const mostOfGroup = 8;

interface Group {
  readonly name: Command["group"];
  readonly commands: readonly Command[];
}

/** The matching commands by group. The group with the best match comes first. */
export function grouped(all: readonly Command[], typed: string): Group[] {
  const groups = new Map<Command["group"], Command[]>();
  for (const { item } of fitting(all, (c) => `${c.name} ${c.also ?? ""}`, typed, typed.trim() === "" ? all.length : most)) {
    const group = groups.get(item.group) ?? [];
    if (group.length < mostOfGroup) group.push(item);
    groups.set(item.group, group);
  }
  return [...groups].map(([name, commands]) => ({ name, commands }));
}

/** The open palette. Running a command closes it. */
export function PaletteDialog({ onClose, onNewSpace }: { onClose: () => void; onNewSpace: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  const [typed, setTyped] = useState("");
  const [at, setAt] = useState(0);
  const groups = useGroups(typed, onNewSpace);
  const flat = groups.flatMap((g) => g.commands);
  const chosen = flat[Math.min(at, flat.length - 1)];
  const option = (c: Command) => `${id}-${flat.indexOf(c)}`;
  useFocusBack(true);
  useEffect(() => dialog.current?.showModal(), []);
  useEffect(() => {
    if (chosen !== undefined) document.getElementById(option(chosen))?.scrollIntoView({ block: "nearest" });
  });
  const run = (c: Command | undefined) => {
    if (c === undefined) return;
    onClose();
    c.run();
  };
  const onKey = (event: KeyboardEvent) => {
    const to = moved(event.key, Math.min(at, flat.length - 1), flat.length);
    if (to !== undefined) setAt(to);
    else if (event.key === "Enter" && !event.nativeEvent.isComposing) run(chosen);
    else return;
    event.preventDefault();
  };
  return (
    <dialog
      ref={dialog}
      aria-label="Go anywhere, do anything"
      onClose={onClose}
      onClick={(event) => {
        if (event.target === dialog.current) onClose(); // the backdrop
      }}
      className="mt-[10dvh] mb-auto w-[calc(100vw-2rem)] max-w-xl rounded-xl border border-line bg-raised p-0 shadow-xl"
    >
      <div className="flex max-h-[70dvh] flex-col">
        <div className="flex items-center gap-3 border-b border-line px-4">
          <Search aria-hidden className="size-4 shrink-0 text-soft" />
          <input
            role="combobox"
            aria-label="Search commands"
            aria-expanded={flat.length > 0}
            aria-controls={`${id}-list`}
            aria-autocomplete="list"
            aria-activedescendant={chosen === undefined ? undefined : option(chosen)}
            autoComplete="off"
            spellCheck={false}
            placeholder="A space, an agent, a page, an action"
            value={typed}
            onChange={(e) => {
              setTyped(e.target.value);
              setAt(0);
            }}
            onKeyDown={onKey}
            className="h-12 w-full min-w-0 bg-transparent text-ink outline-none placeholder:text-soft"
          />
        </div>
        <p role="status" className={flat.length === 0 ? "px-4 py-6 text-center text-soft" : "sr-only"}>
          {flat.length === 0 ? "No results" : `${flat.length} ${flat.length === 1 ? "result" : "results"}`}
        </p>
        <div role="listbox" id={`${id}-list`} aria-label="Commands" hidden={flat.length === 0} className="min-h-0 flex-1 overflow-y-auto p-2">
          {groups.map((g) => (
            <div key={g.name} role="group" aria-labelledby={`${id}-${g.name}`} className="pb-1">
              <p id={`${id}-${g.name}`} role="presentation" className="px-2 py-1 text-sm font-medium text-soft">
                {g.name}
              </p>
              {g.commands.map((c) => (
                <Option key={c.id} id={option(c)} command={c} chosen={c === chosen} onPoint={() => setAt(flat.indexOf(c))} onRun={() => run(c)} />
              ))}
            </div>
          ))}
        </div>
        <p aria-hidden className="hidden gap-4 border-t border-line px-4 py-2 text-xs text-soft sm:flex">
          <span>↑ ↓ choose</span>
          <span>Enter go</span>
          <span>Esc close</span>
        </p>
      </div>
    </dialog>
  );
}

// The query can always be searched for in messages.
function useGroups(typed: string, onNewSpace: () => void): readonly Group[] {
  const all = useCommands(onNewSpace);
  const { session } = useConsole();
  const go = useNavigate();
  return useMemo(() => {
    const groups = grouped(all, typed);
    const words = typed.trim();
    if (words === "") return groups;
    const search: Command = { id: "search", group: "Search", name: `Search messages for “${words}”`, icon: Search, run: () => void go({ to: "/s/$session/search", params: { session }, search: { q: words } }) };
    return [...groups, { name: "Search" as const, commands: [search] }];
  }, [all, typed, session, go]);
}

/** The index that a key moves to in a list of `count`; undefined for other keys. */
export function moved(key: string, at: number, count: number): number | undefined {
  if (count === 0) return undefined;
  switch (key) {
    case "ArrowDown":
      return (at + 1) % count;
    case "ArrowUp":
      return (at - 1 + count) % count;
    case "PageDown":
      return Math.min(at + 8, count - 1);
    case "PageUp":
      return Math.max(at - 8, 0);
    default:
      return undefined;
  }
}

function Option({ id, command, chosen, onPoint, onRun }: { id: string; command: Command; chosen: boolean; onPoint: () => void; onRun: () => void }) {
  const Icon = command.icon;
  return (
    <div
      id={id}
      role="option"
      aria-selected={chosen}
      onPointerMove={onPoint}
      onClick={onRun}
      className={classes("flex min-h-9 touch:min-h-11 cursor-pointer items-center gap-2.5 rounded-md px-2", chosen && "bg-accent-soft text-accent")}
    >
      <Icon aria-hidden className="size-4 shrink-0" />
      <span className="min-w-0 flex-1 truncate">{command.name}</span>
      {command.hint !== undefined && <span className="text-sm text-soft">{command.hint}</span>}
    </div>
  );
}
