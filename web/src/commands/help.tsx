// "?" lists all keyboard shortcuts that work on the page.
import { lazy, Suspense, useState } from "react";
import { useShortcut } from "@/app/shortcuts";
import { Dialog } from "@/ui/dialog";
import { Loading } from "@/ui/placeholder";

const ShortcutList = lazy(() => import("./shortcut-list").then((m) => ({ default: m.ShortcutList })));

/** The list and its shortcut. */
export function ShortcutHelp() {
  const [open, setOpen] = useState(false);
  useShortcut("?", "This list", () => setOpen(true));
  return (
    <Dialog open={open} onClose={() => setOpen(false)} title="Keyboard shortcuts">
      <Suspense fallback={<Loading />}>
        <ShortcutList onLeave={() => setOpen(false)} />
      </Suspense>
    </Dialog>
  );
}
