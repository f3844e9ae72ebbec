// Keeps the keyboard focus when its element is removed.
import { type FocusEvent, type RefObject, useEffect, useRef } from "react";

interface Kept<T extends HTMLElement> {
  readonly ref: RefObject<T | null>;
  readonly tabIndex: -1;
  readonly onFocus: () => void;
  readonly onBlur: (event: FocusEvent<T>) => void;
}

/** Props of an element that takes the focus itself when the focused element inside is removed or disabled. */
export function useFocusKept<T extends HTMLElement>(): Kept<T> {
  const ref = useRef<T>(null);
  const held = useRef(false);
  useEffect(() => {
    if (held.current && document.activeElement === document.body) ref.current?.focus({ preventScroll: true });
  });
  return {
    ref,
    tabIndex: -1,
    onFocus: () => void (held.current = true),
    onBlur: (event) => {
      // Some browsers report a focus that was lost by removal, too.
      const left = event.target.isConnected && !event.target.matches(":disabled");
      if (left) held.current = event.relatedTarget instanceof Node && event.currentTarget.contains(event.relatedTarget);
    },
  };
}
