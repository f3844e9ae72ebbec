// "?" lists all keyboard shortcuts that work on the page.
import { useState } from "react";
import { useShortcut } from "@/app/shortcuts";
import { Dialog } from "@/ui/dialog";
import { onDemand } from "@/ui/on-demand";
import { Loading } from "@/ui/placeholder";

const ShortcutList = onDemand(() => import("./shortcut-list").then((m) => m.ShortcutList), { loading: <Loading /> });

/** The list and its shortcut. */
export function ShortcutHelp() {
  const [open, setOpen] = useState(false);
  useShortcut("?", "This list", () => setOpen(true));
  return (
    <Dialog open={open} onClose={() => setOpen(false)} title="Keyboard shortcuts">
      <ShortcutList onLeave={() => setOpen(false)} />
    </Dialog>
  );
}
