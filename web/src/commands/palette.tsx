// Ctrl K: everything that one can go to or do, by a few letters. The palette comes
// with the shell: one that is loaded first would lose the letters typed meanwhile.
import { lazy, Suspense, useCallback, useState } from "react";
import { useConsole } from "@/app/console";
import { useShortcut } from "@/app/shortcuts";
import { PaletteDialog } from "./palette-dialog";

const NewSpace = lazy(() => import("@/space/new-space").then((m) => ({ default: m.NewSpace })));

/** The palette with its shortcut. */
export function CommandPalette() {
  const [open, setOpen] = useState(false);
  const [making, setMaking] = useState(false);
  const { session } = useConsole();
  useShortcut("Ctrl+K", "Go anywhere, do anything", () => setOpen(!open));
  const makeSpace = useCallback(() => setMaking(true), []);
  return (
    <>
      {open && <PaletteDialog key={session} onClose={() => setOpen(false)} onNewSpace={makeSpace} />}
      {making && (
        <Suspense>
          <NewSpace onClose={() => setMaking(false)} />
        </Suspense>
      )}
    </>
  );
}
