// Ctrl+K opens the palette. It is loaded soon after the shell: loading it on demand would
// lose the letters typed in the meantime.
import { useCallback, useEffect, useState } from "react";
import { useConsole } from "@/app/console";
import { useShortcut } from "@/app/shortcuts";
import { NewSpaceDialog } from "@/space/new-space-dialog";
import { dialogOnDemand } from "@/ui/on-demand";

const load = () => import("./palette-dialog").then((m) => m.PaletteDialog);
const PaletteDialog = dialogOnDemand(load);

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
      {open && <PaletteDialog key={session} onClose={() => setOpen(false)} onNewSpace={makeSpace} />}
      {making && <NewSpaceDialog onClose={() => setMaking(false)} />}
    </>
  );
}
