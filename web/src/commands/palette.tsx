// Ctrl+K opens the palette. It is loaded soon after the shell: loading it on demand would
// lose the letters typed in the meantime.
import { lazy, Suspense, useCallback, useEffect, useState } from "react";
import { useConsole } from "@/app/console";
import { useShortcut } from "@/app/shortcuts";

const load = () => import("./palette-dialog").then((m) => ({ default: m.PaletteDialog }));
const PaletteDialog = lazy(load);
const NewSpace = lazy(() => import("@/space/new-space").then((m) => ({ default: m.NewSpace })));

/** The palette and its shortcut. */
export function CommandPalette() {
  const [open, setOpen] = useState(false);
  const [making, setMaking] = useState(false);
  const { session } = useConsole();
  useShortcut("Ctrl+K", "Go anywhere, do anything", () => setOpen(!open));
  useEffect(() => {
    const timer = setTimeout(() => void load().catch(() => undefined), 1_000); // opening the palette tries again
    return () => clearTimeout(timer);
  }, []);
  const makeSpace = useCallback(() => setMaking(true), []);
  return (
    <>
      {open && (
        <Suspense>
          <PaletteDialog key={session} onClose={() => setOpen(false)} onNewSpace={makeSpace} />
        </Suspense>
      )}
      {making && (
        <Suspense>
          <NewSpace onClose={() => setMaking(false)} />
        </Suspense>
      )}
    </>
  );
}
