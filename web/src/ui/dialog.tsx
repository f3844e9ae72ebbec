// A modal dialog on the platform's <dialog>: it keeps the focus inside, closes with Escape,
// and needs no style that the content security policy refuses.
import { X } from "lucide-react";
import { type ReactNode, useEffect, useId, useRef } from "react";
import { IconButton } from "./button";
import { classes } from "./classes";

interface Props {
  open: boolean;
  onClose: () => void;
  title: string;
  /** One sentence under the title. */
  about?: ReactNode;
  children: ReactNode;
  /** Buttons at the end. */
  actions?: ReactNode;
  wide?: boolean;
}

/** Returns the focus to where it was after a dialog closes. */
export function useFocusBack(open: boolean): void {
  useEffect(() => {
    if (!open) return;
    const before = document.activeElement;
    return () => {
      const lost = document.activeElement === null || document.activeElement === document.body;
      if (lost && before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, [open]);
}

export function Dialog({ open, onClose, title, about, children, actions, wide = false }: Props) {
  const ref = useRef<HTMLDialogElement>(null);
  const id = useId();
  useFocusBack(open);
  useEffect(() => {
    const dialog = ref.current;
    if (dialog === null) return;
    if (open && !dialog.open) {
      dialog.showModal();
      // The first field of a form gets the focus, not the button that closes the dialog.
      dialog.querySelector<HTMLElement>(":is(input:not([type=checkbox]), select, textarea):not(:disabled)")?.focus();
    }
    if (!open && dialog.open) dialog.close();
  }, [open]);
  return (
    <dialog
      ref={ref}
      aria-labelledby={id}
      onClose={onClose}
      onClick={(event) => {
        if (event.target === ref.current) onClose(); // the backdrop
      }}
      className={classes("max-h-[90dvh] w-[calc(100vw-2rem)] rounded-xl border border-line bg-raised p-0 shadow-xl", wide ? "max-w-4xl" : "max-w-lg")}
    >
      {open && (
        <div className="flex max-h-[90dvh] flex-col">
          <header className="flex items-start justify-between gap-3 px-5 pt-4">
            <div>
              <h2 id={id} className="text-lg font-semibold">
                {title}
              </h2>
              {about !== undefined && <p className="text-sm text-soft">{about}</p>}
            </div>
            <IconButton label="Close" onClick={onClose} className="-mt-0.5 -mr-2 touch:-mt-2 touch:-mr-3">
              <X aria-hidden className="size-4" />
            </IconButton>
          </header>
          <div className="min-h-0 flex-1 overflow-y-auto px-5 py-4">{children}</div>
          {actions !== undefined && <footer className="flex flex-wrap justify-end gap-2 border-t border-line px-5 py-3">{actions}</footer>}
        </div>
      )}
    </dialog>
  );
}
