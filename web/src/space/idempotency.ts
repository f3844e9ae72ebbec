// Names for calls that create something, so that repeating one does no harm
// (contract, section 4, Idempotency-Key).
import { useRef } from "react";

/** A new name, random. It works on plain HTTP as well, where crypto.randomUUID does not. */
export function newKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((b) => b.toString(16).padStart(2, "0")).join("");
}

/** One name for as long as `what` stays the same. */
export function useKeyOf(what: string): string {
  const held = useRef({ what, key: "" });
  if (held.current.key === "" || held.current.what !== what) held.current = { what, key: newKey() };
  return held.current.key;
}
