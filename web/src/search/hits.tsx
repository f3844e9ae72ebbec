// The hits of a search, by space.
import { Link } from "@tanstack/react-router";
import type { Hit } from "@shoal-dev/client";
import { useConsole } from "@/app/console";
import { useName } from "@/live/hooks";
import { wordsOf } from "@/parts/server-words";
import { Badge } from "@/ui/badge";
import { Moment } from "@/ui/time";
import { pieces } from "./highlight";

/** The hits, grouped by space, or one by one with the name of the space. */
export function Hits({ hits, together, onFollow }: { hits: readonly Hit[]; together: boolean; onFollow: () => void }) {
  if (!together) {
    return (
      <ul className="divide-y divide-line overflow-hidden rounded-lg border border-line bg-surface empty:border-0">
        {hits.map((hit) => (
          <li key={hit.message.id}>
            <HitLink hit={hit} named onFollow={onFollow} />
          </li>
        ))}
      </ul>
    );
  }
  const groups = new Map<string, Hit[]>();
  for (const hit of hits) groups.set(hit.space.id, [...(groups.get(hit.space.id) ?? []), hit]);
  return (
    <div className="flex flex-col gap-6">
      {[...groups].map(([id, group]) => (
        <section key={id} aria-labelledby={`in-${id}`}>
          <h2 id={`in-${id}`} className="mb-2 flex min-w-0 items-center gap-2 font-semibold">
            <span className="min-w-0 truncate">{group[0]?.space.name}</span>
            {group[0]?.space.status === "closed" && <Badge>closed</Badge>}
          </h2>
          <ul className="divide-y divide-line overflow-hidden rounded-lg border border-line bg-surface">
            {group.map((hit) => (
              <li key={hit.message.id}>
                <HitLink hit={hit} onFollow={onFollow} />
              </li>
            ))}
          </ul>
        </section>
      ))}
    </div>
  );
}

function HitLink({ hit, named = false, onFollow }: { hit: Hit; named?: boolean; onFollow: () => void }) {
  const { session } = useConsole();
  const name = useName(hit.message.entityId);
  return (
    <Link to="/s/$session/spaces/$space" params={{ session, space: hit.space.id }} search={{ seq: hit.message.seq }} onClick={onFollow} className="block px-4 py-2.5 hover:bg-sunken">
      <span className="flex items-baseline justify-between gap-3 text-sm">
        <span className="min-w-0 truncate font-semibold">
          {name}
          {named && <span className="font-normal text-soft"> in {hit.space.name}</span>}
        </span>
        <Moment at={hit.message.createdAt} />
      </span>
      <span className="line-clamp-3 break-words">
        {hit.highlight === "" && <span className="text-soft">{hit.message.parts.map((p) => ("name" in p ? p.name : p.type)).join(", ")}</span>}
        {pieces(hit.highlight, hit.matches).map((p, i) => (p.match ? <mark key={i} className="rounded-sm bg-warn-soft px-0.5 font-medium text-warn">{p.text}</mark> : <span key={i}>{wordsOf(hit.message.entityId, p.text)}</span>))}
      </span>
    </Link>
  );
}
