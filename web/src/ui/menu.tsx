// A menu below its button: arrow keys, Home, End, Escape. It closes when the focus leaves
// it.
import { type ReactNode, useEffect, useId, useRef, useState } from "react";
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

/** The width that it needs, in px. */
const width = 240;

/** A button that opens a menu. `label` is the button's name. */
export function Menu({ label, icon, items, above = false }: { label: string; icon: ReactNode; items: readonly MenuItem[]; above?: boolean }) {
  const [open, setOpen] = useState(false);
  const [begins, setBegins] = useState(false);
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (open) list.current?.querySelector<HTMLElement>('[role^="menuitem"]:not(:disabled)')?.focus();
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
        onClick={() => {
          // It opens to the left unless the window ends there.
          setBegins((button.current?.getBoundingClientRect().right ?? width) < width);
          setOpen(!open);
        }}
        className="inline-flex size-8 items-center justify-center rounded-md text-soft hover:bg-sunken hover:text-ink"
      >
        {icon}
      </button>
      {open && (
        <div ref={list} id={id} role="menu" aria-label={label} onKeyDown={moveFocus} className={classes("absolute z-30 min-w-56 rounded-lg border border-line bg-raised p-1 shadow-lg", begins ? "left-0" : "right-0", above ? "bottom-full mb-1" : "top-full mt-1")}>
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
              className={classes("flex min-h-8 w-full items-center gap-2 rounded-md px-2 text-left text-sm whitespace-nowrap hover:bg-sunken focus:bg-sunken disabled:opacity-55", item.danger === true && "text-bad")}
            >
              <span aria-hidden className="inline-flex w-4 justify-center">
                {item.checked === undefined ? item.icon : item.checked ? "✓" : ""}
              </span>
              {item.label}
            </button>
          ))}
        </div>
      )}
    </div>
  );
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
