// The pages of the navigation. The command palette offers them as well.
import { Bot, CalendarClock, Hand, type LucideIcon, MessagesSquare, Network, PlayCircle, Plug, Search, Settings } from "lucide-react";
import type { Act } from "./console";

const at = "/s/$session" as const;

/** A page of the navigation. */
export interface Place {
  readonly to: "/s/$session/approvals" | "/s/$session/runs" | "/s/$session/agents" | "/s/$session/plans" | "/s/$session/sessions" | "/s/$session/connect" | "/s/$session/search" | "/s/$session/settings" | "/s/$session/spaces";
  readonly name: string;
  readonly icon: LucideIcon;
  /** For callers who may do this. */
  readonly needs?: Act;
  /** Its keyboard shortcut. */
  readonly keys?: string;
}

/** The page of all spaces. */
export const spacesPlace: Place = { to: `${at}/spaces`, name: "Spaces", icon: MessagesSquare };

/** The pages at the bottom of a phone; the others are under "More". */
export const onPhones: readonly string[] = ["Spaces", "Approvals", "Runs", "Search"];

/** The other pages, in navigation order. */
export const places: readonly Place[] = [
  { to: `${at}/approvals`, name: "Approvals", icon: Hand, keys: "g i" },
  { to: `${at}/search`, name: "Search", icon: Search, keys: "/" },
  { to: `${at}/runs`, name: "Runs", icon: PlayCircle, keys: "g r" },
  { to: `${at}/agents`, name: "Agents", icon: Bot, keys: "g a", needs: "read_settings" },
  { to: `${at}/plans`, name: "Plans", icon: CalendarClock, needs: "read_settings" },
  { to: `${at}/sessions`, name: "Sessions", icon: Network, keys: "g s", needs: "admin" },
  { to: `${at}/connect`, name: "Connect", icon: Plug },
  { to: `${at}/settings`, name: "Settings", icon: Settings },
];
