// What can be done with a space from its row in the list.
import { Bell, BellOff, CheckCheck, Ellipsis, Pin, PinOff } from "lucide-react";
import { useLive } from "@/live/hooks";
import { Menu, type MenuItem } from "@/ui/menu";
import { isPinned, togglePinned, useListMemory } from "./list-memory";
import { toggleMuted } from "./mute-space";
import type { SpaceRow } from "./order";
import { useMarkAllRead } from "./timeline/use-reading";

/** The menu of a row. */
export function RowMenu({ row: { space, member } }: { row: SpaceRow }) {
  const store = useLive();
  const pinned = isPinned(useListMemory(), space.sessionId, space.id);
  const markAllRead = useMarkAllRead(space);
  const icon = "size-4";
  const items: MenuItem[] = [{ label: pinned ? "Unpin" : "Pin", icon: pinned ? <PinOff className={icon} /> : <Pin className={icon} />, run: () => togglePinned(space.sessionId, space.id) }];
  if (member) items.push({ label: space.muted ? "Unmute" : "Mute", icon: space.muted ? <Bell className={icon} /> : <BellOff className={icon} />, run: () => void toggleMuted(store, space) });
  if (member && space.unreadCount > 0) items.push({ label: "Mark as read", icon: <CheckCheck className={icon} />, run: markAllRead });
  return <Menu small label={`Actions for ${space.name}`} icon={<Ellipsis aria-hidden className={icon} />} items={items} />;
}
