// Tabs: arrow keys move between them, and one is shown. The page knows which one; it
// belongs in the URL.
import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef } from "react";
import { Badge, type Tone } from "./badge";
import { classes } from "./classes";

/** One tab. `count` is shown beside its name unless it is 0. */
export interface Tab<Id extends string = string> {
  readonly id: Id;
  readonly name: string;
  readonly count?: number;
  /** What the count means, for screen readers: "errors". */
  readonly counted?: string;
  readonly tone?: Tone;
}

interface Props<Id extends string> {
  label: string;
  tabs: readonly Tab<Id>[];
  value: Id;
  onChange: (id: Id) => void;
  /** They are beside a head of two lines, and as high. */
  tall?: boolean;
  children: ReactNode;
}

/** The tabs, and the content of the selected one below them. */
export function Tabs<Id extends string>({ label, tabs, value, onChange, tall = false, children }: Props<Id>) {
  const list = useRef<HTMLDivElement>(null);
  const id = useId();
  // On a phone the selected tab may be beyond the edge, also when a count widens another.
  const counts = tabs.map((t) => t.count ?? 0).join();
  useEffect(() => {
    list.current?.querySelector("[aria-selected=true]")?.scrollIntoView?.({ block: "nearest", inline: "center" });
  }, [value, counts]);
  const move = (event: KeyboardEvent<HTMLElement>) => {
    const at = tabs.findIndex((t) => t.id === value);
    const to = { ArrowRight: (at + 1) % tabs.length, ArrowLeft: (at - 1 + tabs.length) % tabs.length, Home: 0, End: tabs.length - 1 }[event.key];
    const next = to === undefined ? undefined : tabs[to];
    if (next === undefined) return;
    event.preventDefault();
    onChange(next.id);
    list.current?.querySelectorAll<HTMLElement>("[role=tab]")[to ?? 0]?.focus();
  };
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <div ref={list} role="tablist" aria-label={label} onKeyDown={move} className={classes("fades flex shrink-0 gap-1 overflow-x-auto border-b border-line bg-surface px-2.5 in-[dialog]:bg-transparent", tall && "h-16 items-stretch pt-3")}>
        {tabs.map((t) => (
          <button
            key={t.id}
            type="button"
            role="tab"
            id={`${id}-${t.id}`}
            aria-selected={t.id === value}
            aria-controls={t.id === value ? `${id}-panel` : undefined}
            tabIndex={t.id === value ? 0 : -1}
            onClick={() => onChange(t.id)}
            className="inline-flex min-h-10 shrink-0 touch:min-h-11 items-center gap-1.5 border-b-2 border-transparent px-2.5 text-soft hover:text-ink focus-visible:-outline-offset-2 aria-selected:border-accent aria-selected:font-medium aria-selected:text-accent"
          >
            {t.name}
            {t.count !== undefined && t.count > 0 && (
              <Badge tone={t.tone ?? "neutral"}>
                {t.count}
                {t.counted !== undefined && <span className="sr-only"> {t.counted}</span>}
              </Badge>
            )}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${value}`} tabIndex={0} className="min-h-0 flex-1 overflow-y-auto -outline-offset-2">
        {children}
      </div>
    </div>
  );
}
