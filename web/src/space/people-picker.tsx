// Chooses entities of the session: a search, and a list of boxes to tick.
import { useId, useMemo, useState } from "react";
import type { Entity } from "@shoal-dev/client";
import { useEntities } from "@/live/hooks";
import { Avatar } from "@/ui/avatar";
import { EntityState } from "@/ui/state";

/** A list of entities to tick; `without` are not offered. */
export function PeoplePicker({ label, chosen, choose, without = [] }: { label: string; chosen: ReadonlySet<string>; choose: (ids: ReadonlySet<string>) => void; without?: readonly string[] }) {
  const entities = useEntities();
  const [query, setQuery] = useState("");
  const id = useId();
  const offered = useMemo(() => offer(entities, query, new Set(without)), [entities, query, without]);
  const toggle = (entity: string) => {
    const next = new Set(chosen);
    if (!next.delete(entity)) next.add(entity);
    choose(next);
  };
  return (
    <fieldset className="flex flex-col gap-1">
      <legend className="mb-1 text-sm font-medium">{label}</legend>
      <input type="search" aria-label={`Search: ${label}`} value={query} onChange={(e) => setQuery(e.target.value)} placeholder="Search by name or id" className="h-9 w-full rounded-md touch:h-11 touch:text-base border border-edge bg-surface px-3 placeholder:text-soft" />
      <ul className="max-h-56 overflow-y-auto rounded-md border border-line">
        {offered.map((e) => (
          <li key={e.id}>
            <label htmlFor={`${id}-${e.id}`} className="flex min-h-9 cursor-pointer items-center gap-2 px-2 touch:min-h-11 hover:bg-sunken">
              <input id={`${id}-${e.id}`} type="checkbox" checked={chosen.has(e.id)} onChange={() => toggle(e.id)} />
              <Avatar id={e.id} name={e.name} kind={e.kind} />
              <span className="min-w-0 flex-1 truncate">
                {e.name} <span className="text-sm text-soft">@{e.id}</span>
              </span>
              <EntityState state={e.state} />
            </label>
          </li>
        ))}
        {offered.length === 0 && <li className="px-3 py-2 text-sm text-soft">{query === "" ? "There is nobody else in this session." : `Nobody here is called “${query}”.`}</li>}
      </ul>
    </fieldset>
  );
}

const shownAtMost = 100;

function offer(entities: readonly Entity[], query: string, without: ReadonlySet<string>): Entity[] {
  const q = query.trim().toLowerCase().replace(/^@/, "");
  return entities
    .filter((e) => !without.has(e.id) && (e.name.toLowerCase().includes(q) || e.id.toLowerCase().includes(q)))
    .sort((a, b) => a.name.localeCompare(b.name))
    .slice(0, shownAtMost);
}
