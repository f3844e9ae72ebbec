// The frame of every page: the navigation at the left (at the bottom on a phone), the state
// of the connection, and the page.
import { Link, useLocation, useMatchRoute, useNavigate } from "@tanstack/react-router";
import { Menu } from "lucide-react";
import { type ReactNode, useEffect, useState } from "react";
import { CommandPalette } from "@/commands/palette";
import { ShortcutHelp } from "@/commands/help";
import { Notifications } from "@/commands/notifications";
import { usePending, useSpaces } from "@/live/hooks";
import { SpaceList } from "@/space/space-list";
import { classes } from "@/ui/classes";
import { Dialog } from "@/ui/dialog";
import { Notices } from "@/ui/notice";
import { ConnectionBanner, ConnectionSign } from "./connection";
import { useConsole } from "./console";
import { onPhones, type Place, places, spacesPlace } from "./places";
import { useShortcut } from "./shortcuts";
import { usePanes } from "./panes";
import { useTitle } from "./title";

// The pages that people use most are above the spaces, the others below.
const isInbox = (p: Place): boolean => p.name === "Approvals" || p.name === "Search";

export function Shell({ children }: { children: ReactNode }) {
  const { session, may } = useConsole();
  const shown = places.filter(({ needs }) => !needs || may(needs));
  const inSpace = useMatchRoute()({ to: "/s/$session/spaces/$space" }) !== false;
  useTitle();
  usePanes();
  return (
    <div className="flex h-dvh flex-col">
      <a href="#main" className="sr-only focus:not-sr-only focus:absolute focus:z-50 focus:bg-surface focus:p-2">
        Skip to content
      </a>
      <ConnectionBanner />
      <div className="flex min-h-0 flex-1">
        <nav aria-label="Main" className="hidden w-60 shrink-0 flex-col border-r border-line bg-surface md:flex">
          <div className="flex items-center justify-between px-4 py-3">
            <Link to="/s/$session/spaces" params={{ session }} className="flex items-center gap-2 text-lg font-semibold">
              <img src="/favicon.svg" alt="" className="size-6" />
              Shoal
            </Link>
            <ConnectionSign />
          </div>
          <ul className="px-2">{shown.filter(isInbox).map((p) => <PlaceLink key={p.to} place={p} />)}</ul>
          <SpaceList />
          <ul className="border-t border-line p-2">{shown.filter((p) => !isInbox(p)).map((p) => <PlaceLink key={p.to} place={p} />)}</ul>
        </nav>
        <div className="flex min-w-0 flex-1">{children}</div>
      </div>
      {!inSpace && <BottomBar shown={shown} />}
      {shown.map((p) => p.keys !== undefined && <PlaceShortcut key={p.to} place={p} keys={p.keys} />)}
      <CommandPalette />
      <ShortcutHelp />
      <Notices />
      <Notifications />
    </div>
  );
}

function PlaceShortcut({ place, keys }: { place: Place; keys: string }) {
  const go = useNavigate();
  const { session } = useConsole();
  useShortcut(keys, `Go to ${place.name.toLowerCase()}`, () => void go({ to: place.to, params: { session } }));
  return null;
}

function PlaceLink({ place }: { place: Place }) {
  const { session } = useConsole();
  const Icon = place.icon;
  return (
    <li>
      <Link to={place.to} params={{ session }} className="flex min-h-8 items-center gap-2.5 rounded-md px-2 text-soft touch:min-h-12 hover:bg-sunken hover:text-ink" activeProps={{ className: "bg-accent-soft! text-accent! font-medium", "aria-current": "page" }}>
        <Icon aria-hidden className="size-4" />
        <span className="flex-1">{place.name}</span>
        {place.name === "Approvals" && <WaitingCount />}
      </Link>
    </li>
  );
}

function WaitingCount() {
  const waiting = usePending().filter((p) => p.status === "open").length;
  if (waiting === 0) return null;
  return (
    <span className="rounded-full bg-warn-soft px-2 text-xs font-semibold text-warn tabular-nums">
      {waiting}
      <span className="sr-only"> waiting for an answer</span>
    </span>
  );
}

// On a phone one pane is shown at a time. These links switch between them.
function BottomBar({ shown }: { shown: readonly Place[] }) {
  const [more, setMore] = useState(false);
  const here = useLocation().pathname;
  const rest = shown.filter((p) => !onPhones.includes(p.name));
  const isMore = rest.some((p) => here.split("/")[3] === p.to.split("/").pop());
  useEffect(() => setMore(false), [here]);
  return (
    <nav aria-label="Pages" className="flex shrink-0 border-t border-line bg-surface md:hidden">
      {[spacesPlace, ...shown.filter((p) => onPhones.includes(p.name))].map((p) => (
        <BarLink key={p.to} place={p} />
      ))}
      <button type="button" aria-haspopup="dialog" aria-expanded={more} onClick={() => setMore(true)} className={classes(onBar, isMore && "text-accent!")}>
        <Menu aria-hidden className="size-5" />
        More
      </button>
      <Dialog open={more} onClose={() => setMore(false)} title="More">
        <ul className="-mx-2">{rest.map((p) => <PlaceLink key={p.to} place={p} />)}</ul>
      </Dialog>
    </nav>
  );
}

const onBar = "relative flex min-h-14 flex-1 flex-col items-center justify-center gap-0.5 text-xs text-soft -outline-offset-2";

function BarLink({ place }: { place: Place }) {
  const { session } = useConsole();
  const unread = useSpaces().some((s) => s.unreadCount > 0);
  const Icon = place.icon;
  return (
    <Link to={place.to} params={{ session }} className={onBar} activeProps={{ className: "text-accent!", "aria-current": "page" }}>
      <Icon aria-hidden className="size-5" />
      {place.name}
      <span className="absolute top-1 left-1/2 ml-2.5">{place.name === "Approvals" && <WaitingCount />}</span>
      {place.name === "Spaces" && unread && (
        <>
          <span aria-hidden className="absolute top-2 left-1/2 ml-2 size-2 rounded-full bg-accent" />
          <span className="sr-only">, unread messages</span>
        </>
      )}
    </Link>
  );
}
