// The spaces in the navigation, in sections. Bold: something is unread; @n: how often the
// reader is mentioned; a hand: something waits for an answer; a clock: a message of the
// reader is not sent yet.
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { ArrowDownAZ, BellOff, ChevronRight, Clock, Hand, History, Plus } from "lucide-react";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { useConsole } from "@/app/console";
import { useShortcut } from "@/app/shortcuts";
import { IconButton } from "@/ui/button";
import { classes } from "@/ui/classes";
import { onDemand } from "@/ui/on-demand";
import { useOutgoing } from "./composer/use-outbox";
import { setSpaceOrder, toggleFolded, useListMemory } from "./list-memory";
import { NewSpaceDialog } from "./new-space-dialog";
import { type Groups, nextWanted, type SpaceRow } from "./order";
import { useGroups } from "./use-rows";
import { useSections } from "./use-sections";

const RowMenu = onDemand(() => import("./row-menu").then((m) => m.RowMenu), { failed: () => null });

/** The list of spaces with the way to a new one; it also holds the keys that go between spaces. */
export function SpaceList() {
  const { may } = useConsole();
  const groups = useGroups();
  const [making, setMaking] = useState(false);
  const [pointed, setPointed] = useState(false);
  const { order } = useListMemory();
  useSpaceKeys(groups.own);
  const byName = order === "name";
  return (
    <section aria-labelledby="spaces-heading" className="mt-3 flex min-h-0 flex-1 flex-col">
      <div className="flex items-center pr-2 pl-4">
        <h2 id="spaces-heading" className="flex-1 text-xs font-semibold tracking-wide text-soft uppercase">
          Spaces
        </h2>
        <IconButton label={byName ? "Order by recent activity" : "Order by name"} onClick={() => setSpaceOrder(byName ? "recent" : "name")}>
          {byName ? <ArrowDownAZ aria-hidden className="size-4" /> : <History aria-hidden className="size-4" />}
        </IconButton>
        {may("create_space") && (
          <IconButton label="New space" onClick={() => setMaking(true)}>
            <Plus aria-hidden className="size-4" />
          </IconButton>
        )}
      </div>
      <div className="min-h-0 flex-1 overflow-y-auto px-2 pb-4" onPointerEnter={() => setPointed(true)} onPointerLeave={() => setPointed(false)}>
        {groups.own.length === 0 && groups.others.length === 0 && <p className="px-2 py-1 text-sm text-soft">No spaces yet.</p>}
        <SpaceGroups groups={groups} still={pointed} />
      </div>
      {making && <NewSpaceDialog onClose={() => setMaking(false)} />}
    </section>
  );
}

function useSpaceKeys(own: readonly SpaceRow[]): void {
  const { session } = useConsole();
  const { space } = useParams({ strict: false });
  const go = useNavigate();
  const to = (mentions: boolean) => {
    const next = nextWanted(own, space, mentions);
    if (next !== undefined) void go({ to: "/s/$session/spaces/$space", params: { session, space: next } });
  };
  useShortcut("N", "Next unread space", () => to(false));
  useShortcut("Shift+N", "Next mention of you", () => to(true));
}

/** All spaces as links: the reader's spaces in sections, read-only spaces, closed spaces. */
export function SpaceGroups({ groups, large = false, still = false }: { groups: Groups; large?: boolean; still?: boolean }) {
  const { unread, pinned, rest } = useSections(groups.own, still);
  const section = (name: string, rows: readonly SpaceRow[]) =>
    rows.length > 0 && (
      <Section name={name}>
        <SpaceRows rows={rows} large={large} />
      </Section>
    );
  return (
    <>
      {section("Unread or waiting", unread)}
      {section("Pinned", pinned)}
      {unread.length + pinned.length === 0 ? <SpaceRows rows={rest} large={large} /> : section("Others", rest)}
      {groups.others.length > 0 && (
        <Fold name="Read-only" count={groups.others.length} open={groups.own.length === 0}>
          <SpaceRows rows={groups.others} large={large} />
        </Fold>
      )}
      {groups.closed.length > 0 && (
        <Fold name="Closed" count={groups.closed.length}>
          <SpaceRows rows={groups.closed} large={large} />
        </Fold>
      )}
    </>
  );
}

// A section that can be folded; the browser remembers it.
function Section({ name, children }: { name: string; children: ReactNode }) {
  const folded = useListMemory().folded.includes(name);
  return (
    <div role="group" aria-label={name} className="mt-1">
      <button type="button" aria-expanded={!folded} onClick={() => toggleFolded(name)} className="w-full flex min-h-7 items-center gap-1 rounded-md px-1 text-xs text-soft touch:min-h-11 touch:text-sm hover:text-ink">
        <ChevronRight aria-hidden className={classes("size-3.5", !folded && "rotate-90")} />
        {name}
      </button>
      {!folded && children}
    </div>
  );
}

function SpaceRows({ rows, large }: { rows: readonly SpaceRow[]; large: boolean }) {
  return (
    <ul>
      {rows.map((row) => (
        <SpaceLine key={row.space.id} row={row} large={large} />
      ))}
    </ul>
  );
}

function SpaceLine({ row, large }: { row: SpaceRow; large: boolean }) {
  const { session } = useConsole();
  const { space, waiting } = row;
  const bold = space.unreadCount > 0;
  const unsent = useOutgoing(space.id);
  const item = useRef<HTMLLIElement>(null);
  const isOpen = useParams({ strict: false }).space === space.id;
  useEffect(() => {
    if (!isOpen) return;
    // The space that is shown is never folded away.
    item.current?.closest("details")?.setAttribute("open", "");
    item.current?.scrollIntoView({ block: "nearest" });
  }, [isOpen]);
  return (
    <li ref={item} className="group/space relative">
      <Link
        to="/s/$session/spaces/$space"
        params={{ session, space: space.id }}
        className={classes("flex items-center gap-1.5 rounded-md px-2 hover:bg-sunken", large ? "min-h-12 rounded-none! border-b border-line" : "min-h-8", bold ? "font-semibold text-ink" : "text-soft hover:text-ink", space.muted && !isOpen && "text-soft! font-normal")}
        activeProps={{ className: "bg-accent-soft! text-accent!", "aria-current": "page" }}
      >
        <span aria-hidden className="text-soft">
          #
        </span>
        <span className="min-w-0 flex-1 truncate" title={space.name}>
          {space.name}
        </span>
        {unsent.length > 0 && (
          <span className="inline-flex items-center text-warn" title={`${unsent.length} not sent yet`}>
            <Clock aria-hidden className="size-3.5" />
            <span className="sr-only">{unsent.length} not sent yet</span>
          </span>
        )}
        {space.muted && <BellOff aria-label="muted" className="size-3.5 shrink-0 text-soft" />}
        {waiting > 0 && (
          <span className="inline-flex items-center gap-0.5 rounded-full bg-warn-soft px-1.5 text-xs font-semibold text-warn tabular-nums" title={`${waiting} waiting for an answer`}>
            <Hand aria-hidden className="size-3" />
            {waiting}
            <span className="sr-only"> waiting for an answer</span>
          </span>
        )}
        {space.mentionCount > 0 && (
          <span className="rounded-full bg-accent px-1.5 text-xs font-semibold text-accent-ink tabular-nums">
            @{space.mentionCount}
            <span className="sr-only"> for you</span>
          </span>
        )}
        {bold && (
          <span className={classes("min-w-5 text-right text-xs tabular-nums", !large && "group-hover/space:invisible")}>
            {space.unreadCount > 999 ? "999+" : space.unreadCount}
            <span className="sr-only"> unread</span>
          </span>
        )}
      </Link>
      {!large && (
        <span className="invisible absolute top-1 right-1 rounded-md bg-sunken group-focus-within/space:visible group-hover/space:visible has-aria-expanded:visible">
          <RowMenu row={row} />
        </span>
      )}
    </li>
  );
}

/** Rows that are folded away until somebody wants them. */
function Fold({ name, count, open = false, children }: { name: string; count: number; open?: boolean; children: ReactNode }) {
  return (
    <details open={open} className="group mt-1">
      <summary className="list-none flex min-h-7 items-center gap-1 rounded-md px-1 text-xs text-soft touch:min-h-11 touch:text-sm hover:text-ink [&::-webkit-details-marker]:hidden">
        <ChevronRight aria-hidden className="size-3.5 group-open:rotate-90" />
        {name} ({count})
      </summary>
      {children}
    </details>
  );
}
