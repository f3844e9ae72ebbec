// Buttons. Each is at least 24 px high (WCAG 2.2, 2.5.8), 44 px for fingers, and has a name.
import type { ButtonHTMLAttributes, ReactNode } from "react";
import { classes } from "./classes";

/** The kinds of buttons: the main action, ordinary, quiet, destructive. */
export type ButtonTone = "primary" | "plain" | "quiet" | "danger";

const tones: Record<ButtonTone, string> = {
  primary: "bg-accent text-accent-ink hover:brightness-110",
  plain: "border border-edge bg-surface text-ink hover:bg-sunken",
  quiet: "text-ink hover:bg-sunken",
  danger: "border border-bad bg-surface text-bad hover:bg-bad-soft",
};

interface Props extends ButtonHTMLAttributes<HTMLButtonElement> {
  tone?: ButtonTone;
  small?: boolean;
  /** The icon before the label. It has no name of its own. */
  icon?: ReactNode;
  /** The action is in progress: the button is disabled. */
  busy?: boolean;
}

export function Button({ tone = "plain", small = false, icon, busy = false, className, children, disabled, type = "button", ...rest }: Props) {
  return (
    <button
      type={type}
      disabled={disabled === true || busy}
      aria-busy={busy || undefined}
      className={classes(
        "inline-flex items-center justify-center gap-1.5 rounded-md font-medium whitespace-nowrap disabled:opacity-55 touch:min-h-11",
        small ? "min-h-7 px-2 text-sm touch:px-3" : "min-h-9 px-3.5",
        tones[tone],
        className,
      )}
      {...rest}
    >
      {icon}
      {children}
    </button>
  );
}

/** A button with only an icon. `label` is its name and its tooltip. */
export function IconButton({ label, children, className, type = "button", ...rest }: { label: string } & ButtonHTMLAttributes<HTMLButtonElement>) {
  return (
    <button
      type={type}
      aria-label={label}
      title={label}
      className={classes("inline-flex size-8 shrink-0 items-center justify-center rounded-md text-soft hover:bg-sunken hover:text-ink disabled:opacity-55 touch:size-11", className)}
      {...rest}
    >
      {children}
    </button>
  );
}
