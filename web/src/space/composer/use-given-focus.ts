// The focus that a page gives its text field, so that a reader who opens a space can type at once.
import { type RefObject, useEffect, useRef } from "react";
import { wentByKey } from "@/app/last-input";

interface GivenFocus {
  /** Whether the field has the focus because it was given, and has not been used yet. */
  readonly isGiven: () => boolean;
  /** Says that the field is used, or was left. */
  readonly claim: () => void;
}

/**
 * Gives a field the focus when it appears, and when its space is chosen again in the list,
 * unless the reader goes from space to space by keys. At other times the focus belongs to the
 * reader.
 */
export function useGivenFocus(field: RefObject<HTMLElement | null>, wanted: boolean): GivenFocus {
  const given = useRef(false);
  useEffect(() => {
    const give = () => {
      if (wentByKey()) return;
      field.current?.focus({ preventScroll: true });
      given.current = true;
    };
    // The link to the page that is open leads nowhere, but has taken the focus.
    const chosen = (event: MouseEvent) => {
      if (event.target instanceof Element && event.target.closest("nav a[aria-current=page]") !== null) give();
    };
    if (wanted) give();
    document.addEventListener("click", chosen);
    return () => document.removeEventListener("click", chosen);
    // Whether it is wanted is asked when the field appears.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, []);
  return { isGiven: () => given.current, claim: () => void (given.current = false) };
}
