// A menu at its button: arrow keys, Home, End, Escape. It closes when the focus leaves it or
// the page scrolls. It is a popover, so that no pane cuts it off.
import { type ReactNode, useEffect, useId, useLayoutEffect, useRef, useState } from "react";
import { classes } from "./classes";

/** One entry of a menu. With `checked` it is a switch. */
export interface MenuItem {
  readonly label: string;
  readonly icon?: ReactNode;
  readonly run: () => void;
  readonly checked?: boolean;
  readonly danger?: boolean;
  readonly disabled?: boolean;
}

/** The distance to the button and to the edges of the window, in px. */
const gap = 4;

/** A button that opens a menu. `label` is the button's name. */
export function Menu({ label, icon, items, small = false, action }: { label: string; icon: ReactNode; items: readonly MenuItem[]; small?: boolean; action?: string }) {
  const [open, setOpen] = useState(false);
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const list = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (!open || list.current === null || button.current === null) return;
    list.current.showPopover?.();
    place(list.current, button.current.getBoundingClientRect());
    list.current.querySelector<HTMLElement>('[role^="menuitem"]:not(:disabled)')?.focus({ preventScroll: true });
  }, [open]);
  useEffect(() => {
    if (!open) return;
    const top = button.current?.getBoundingClientRect().top;
    const onScroll = () => {
      if (button.current?.getBoundingClientRect().top !== top) setOpen(false);
    };
    window.addEventListener("scroll", onScroll, { capture: true, passive: true });
    return () => window.removeEventListener("scroll", onScroll, { capture: true });
  }, [open]);
  const close = () => {
    setOpen(false);
    button.current?.focus();
  };
  return (
    <div
      className="relative"
      onBlur={(event) => {
        if (!event.currentTarget.contains(event.relatedTarget)) setOpen(false);
      }}
      onKeyDown={(event) => {
        if (event.key === "Escape" && open) {
          event.preventDefault();
          event.stopPropagation();
          close();
        }
      }}
    >
      <button
        ref={button}
        type="button"
        aria-label={label}
        title={label}
        aria-haspopup="menu"
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        data-action={action}
        onClick={() => setOpen(!open)}
        className={classes("inline-flex items-center justify-center rounded-md text-soft hover:bg-sunken hover:text-ink", small ? "size-6" : "size-8", "touch:size-11")}
      >
        {icon}
      </button>
      {open && (
        <div ref={list} id={id} role="menu" aria-label={label} onKeyDown={moveFocus} popover="manual" className="fixed m-0 min-w-56 rounded-lg border border-line bg-raised p-1 text-ink shadow-lg">
          {items.map((item) => (
            <button
              key={item.label}
              type="button"
              role={item.checked === undefined ? "menuitem" : "menuitemcheckbox"}
              aria-checked={item.checked}
              tabIndex={-1}
              disabled={item.disabled}
              onClick={() => {
                close();
                item.run();
              }}
              className={classes("flex min-h-8 w-full items-center touch:min-h-11 gap-2 rounded-md px-2 text-left text-sm whitespace-nowrap hover:bg-sunken focus:bg-sunken disabled:opacity-55", item.danger === true && "text-bad")}
            >
              <span aria-hidden className="inline-flex w-4 justify-center">
                {item.checked === true ? "✓" : item.icon}
              </span>
              {item.label}
            </button>
          ))}
        </div>
      )}
    </div>
  );
}

// Below the button and to its left, where the window has room.
function place(list: HTMLElement, at: DOMRect): void {
  const { width, height } = list.getBoundingClientRect();
  const below = at.bottom + gap + height <= window.innerHeight;
  const top = below ? at.bottom + gap : Math.max(gap, at.top - gap - height);
  list.style.inset = `${top}px auto auto ${Math.max(gap, at.right - width)}px`;
}

function moveFocus(event: React.KeyboardEvent<HTMLElement>): void {
  const items = [...event.currentTarget.querySelectorAll<HTMLElement>('[role^="menuitem"]:not(:disabled)')];
  const at = items.findIndex((item) => item === document.activeElement);
  const to = { ArrowDown: (at + 1) % items.length, ArrowUp: (at - 1 + items.length) % items.length, Home: 0, End: items.length - 1 }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  event.stopPropagation();
  items[to]?.focus();
}
