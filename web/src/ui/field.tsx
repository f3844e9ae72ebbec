// Fields of forms: a label, the control, and the error, linked for screen readers.
import { type InputHTMLAttributes, type ReactNode, type SelectHTMLAttributes, type TextareaHTMLAttributes, useId } from "react";
import { classes } from "./classes";

// Safari on a phone magnifies the page for a field whose letters are smaller than 16 px.
const control = "w-full rounded-md border border-edge bg-surface px-3 text-ink touch:text-base placeholder:text-soft disabled:opacity-60 aria-invalid:border-bad";

interface Frame {
  label: ReactNode;
  /** A note below the label. */
  hint?: ReactNode;
  /** The error. */
  error?: string | undefined;
}

function useFrame({ label, hint, error }: Frame) {
  const id = useId();
  const described = [hint !== undefined && `${id}-hint`, error !== undefined && `${id}-error`].filter(Boolean).join(" ");
  const wrap = (field: ReactNode) => (
    <div className="flex flex-col gap-1">
      <label htmlFor={id} className="text-sm font-medium">
        {label}
      </label>
      {field}
      {hint !== undefined && (
        <p id={`${id}-hint`} className="text-sm text-soft">
          {hint}
        </p>
      )}
      {error !== undefined && (
        <p id={`${id}-error`} className="text-sm text-bad">
          {error}
        </p>
      )}
    </div>
  );
  return { wrap, props: { id, "aria-describedby": described === "" ? undefined : described, "aria-invalid": error !== undefined || undefined } };
}

export function TextField({ label, hint, error, className, ...rest }: Frame & InputHTMLAttributes<HTMLInputElement>) {
  const { wrap, props } = useFrame({ label, hint, error });
  return wrap(<input {...props} {...rest} className={classes(control, "h-9 touch:h-11", className)} />);
}

export function AreaField({ label, hint, error, className, ...rest }: Frame & TextareaHTMLAttributes<HTMLTextAreaElement>) {
  const { wrap, props } = useFrame({ label, hint, error });
  return wrap(<textarea {...props} {...rest} className={classes(control, "min-h-20 py-2", className)} />);
}

export function SelectField({ label, hint, error, className, children, ...rest }: Frame & SelectHTMLAttributes<HTMLSelectElement>) {
  const { wrap, props } = useFrame({ label, hint, error });
  return wrap(
    <select {...props} {...rest} className={classes(control, "h-9 pr-8! touch:h-11", className)}>
      {children}
    </select>,
  );
}

/** A checkbox with its label after it. */
export function CheckField({ label, hint, error, ...rest }: Frame & InputHTMLAttributes<HTMLInputElement>) {
  const id = useId();
  return (
    <div>
      <label htmlFor={id} className="inline-flex min-h-6 items-center gap-2 touch:min-h-11 has-disabled:opacity-60">
        <input id={id} type="checkbox" aria-describedby={hint === undefined ? undefined : `${id}-hint`} {...rest} />
        <span>{label}</span>
      </label>
      {hint !== undefined && (
        <p id={`${id}-hint`} className="text-sm text-soft">
          {hint}
        </p>
      )}
      {error !== undefined && <p className="text-sm text-bad">{error}</p>}
    </div>
  );
}
