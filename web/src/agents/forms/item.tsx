// One item of a list in a form: folded to a line, opened to its fields.
import { ArrowUp, ChevronDown, ChevronUp, Copy, Trash2 } from "lucide-react";
import { type ReactNode, useRef, useState } from "react";
import { Badge } from "@/ui/badge";
import { IconButton } from "@/ui/button";
import { getIn, isList, type Json, type Path, within } from "../config/json";
import { useDraftContext } from "../draft";

/** What can be done with an item as a whole. */
type Act = "up" | "copy" | "out";

/** A list of the draft whose items can be opened. */
export interface ItemList {
  readonly items: readonly Json[];
  readonly path: Path;
  readonly opened: readonly number[];
  readonly add: (item: Json) => void;
  readonly toggle: (place: number) => void;
  readonly act: (act: Act, place: number) => void;
  /** The element that takes the focus when an item is gone. */
  readonly ref: React.RefObject<HTMLUListElement | null>;
}

/** The list at a path; which items are open follows them wherever they move. */
export function useItems(path: Path): ItemList {
  const { draft, dispatch } = useDraftContext();
  const [opened, setOpened] = useState<readonly number[]>([]);
  const ref = useRef<HTMLUListElement>(null);
  const found = getIn(draft.config, path);
  const items = isList(found) ? found : [];
  const set = (value: readonly Json[]) => dispatch({ type: "set", path, value });
  return {
    items,
    path,
    opened,
    ref,
    add: (item) => {
      setOpened([...opened, items.length]);
      set([...items, item]);
    },
    toggle: (place) => setOpened(opened.includes(place) ? opened.filter((i) => i !== place) : [...opened, place]),
    act: (act, place) => {
      const [after, where] = acted(act, items, place);
      setOpened(opened.flatMap((i) => where(i) ?? []));
      if (act === "out") {
        dispatch({ type: "set", path: [...path, place], value: undefined });
        ref.current?.focus();
      } else set(after);
    },
  };
}

// The list afterwards, and where each of its items is then; nowhere if it is gone.
function acted(act: Act, items: readonly Json[], place: number): readonly [readonly Json[], (from: number) => number | undefined] {
  switch (act) {
    case "up":
      return [items.toSpliced(place - 1, 2, items[place] ?? null, items[place - 1] ?? null), (i) => (i === place ? place - 1 : i === place - 1 ? place : i)];
    case "copy":
      return [items.toSpliced(place + 1, 0, copied(items[place] ?? null)), (i) => (i > place ? i + 1 : i)];
    case "out":
      return [items.toSpliced(place, 1), (i) => (i === place ? undefined : i > place ? i - 1 : i)];
  }
}

function copied(item: Json): Json {
  const name = getIn(item, ["name"]);
  return typeof name === "string" && typeof item === "object" && item !== null ? ({ ...item, name: `${name}_2` } as Json) : item;
}

interface Props {
  list: ItemList;
  place: number;
  name: string;
  badges?: ReactNode;
  children: ReactNode;
}

/** An item that can be opened, copied, moved up and taken out. */
export function Item({ list, place, name, badges, children }: Props) {
  const { draft, disabled } = useDraftContext();
  const path = [...list.path, place];
  const wrong = draft.wrongs.filter((w) => within(w.path, path)).length + draft.pieces.filter((p) => p.problem !== undefined && within(p.path, path)).length;
  const isOpen = list.opened.includes(place);
  const called = name === "" ? "without a name" : name;
  return (
    <li className="rounded-lg border border-line bg-surface">
      <div className="flex flex-wrap items-center gap-2 p-2 pl-1">
        <h3 className="min-w-0 flex-1">
          <button type="button" aria-expanded={isOpen} onClick={() => list.toggle(place)} className="flex min-h-8 touch:min-h-11 w-full flex-wrap items-center gap-2 rounded-md px-2 text-left">
            {isOpen ? <ChevronUp aria-hidden className="size-4 text-soft" /> : <ChevronDown aria-hidden className="size-4 text-soft" />}
            <span className="min-w-0 font-mono text-sm font-medium break-all">{called}</span>
            {badges}
            {wrong > 0 && <Badge tone="bad">{wrong === 1 ? "1 error" : `${wrong} errors`}</Badge>}
          </button>
        </h3>
        <div className="flex">
          <IconButton label={`Move ${called} up`} disabled={disabled || place === 0} onClick={() => list.act("up", place)}>
            <ArrowUp aria-hidden className="size-4" />
          </IconButton>
          <IconButton label={`Copy ${called}`} disabled={disabled} onClick={() => list.act("copy", place)}>
            <Copy aria-hidden className="size-4" />
          </IconButton>
          <IconButton label={`Remove ${called}`} disabled={disabled} onClick={() => list.act("out", place)}>
            <Trash2 aria-hidden className="size-4" />
          </IconButton>
        </div>
      </div>
      {isOpen && <div className="flex flex-col gap-4 border-t border-line p-4">{children}</div>}
    </li>
  );
}
