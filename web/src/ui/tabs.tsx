// Tabs: arrow keys move between them, and one is shown. The page knows which one; it
// belongs in the URL.
import { Tabs as Radix } from "radix-ui";
import { type ReactNode, useEffect, useRef } from "react";
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
  // On a phone the selected tab may be beyond the edge.
  useEffect(() => {
    list.current?.querySelector("[data-state=active]")?.scrollIntoView?.({ block: "nearest", inline: "center" });
  }, [value]);
  return (
    <Radix.Root value={value} onValueChange={(id) => onChange(id as Id)} className="flex min-h-0 flex-1 flex-col">
      <Radix.List ref={list} aria-label={label} className={classes("flex shrink-0 gap-1 overflow-x-auto border-b border-line bg-surface px-2.5", tall && "h-16 items-stretch pt-3")}>
        {tabs.map((t) => (
          <Radix.Trigger
            key={t.id}
            value={t.id}
            className="-mb-px inline-flex min-h-10 shrink-0 touch:min-h-11 items-center gap-1.5 border-b-2 border-transparent px-2.5 text-soft hover:text-ink focus-visible:-outline-offset-2 data-[state=active]:border-accent data-[state=active]:font-medium data-[state=active]:text-accent"
          >
            {t.name}
            {t.count !== undefined && t.count > 0 && (
              <Badge tone={t.tone ?? "neutral"}>
                {t.count}
                {t.counted !== undefined && <span className="sr-only"> {t.counted}</span>}
              </Badge>
            )}
          </Radix.Trigger>
        ))}
      </Radix.List>
      <Radix.Content value={value} className="min-h-0 flex-1 overflow-y-auto">
        {children}
      </Radix.Content>
    </Radix.Root>
  );
}
