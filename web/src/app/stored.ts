// Objects in the browser's storage that all tabs share, and that components can follow.
import { useSyncExternalStore } from "react";
import { inBrowser } from "./storage";

/** An object that is stored under one key, with the members of `initial` that are not stored. */
export class Stored<T extends object> {
  private value: T;
  private readonly listeners = new Set<() => void>();

  constructor(
    private readonly key: string,
    private readonly initial: T,
  ) {
    this.value = this.read();
  }

  /** The current value; the same object until it changes. */
  readonly get = (): T => this.value;

  /** Changes members, in all tabs. */
  change(some: Partial<T>): void {
    this.value = { ...this.value, ...some };
    inBrowser.setItem(this.key, JSON.stringify(this.value));
    this.notify();
  }

  /** Calls `fn` after a change, here or in another tab. Returns a function that ends this. */
  readonly subscribe = (fn: () => void): (() => void) => {
    if (this.listeners.size === 0) window.addEventListener("storage", this.renew);
    this.listeners.add(fn);
    return () => {
      this.listeners.delete(fn);
      if (this.listeners.size === 0) window.removeEventListener("storage", this.renew);
    };
  };

  private readonly renew = (event: StorageEvent): void => {
    if (event.key !== this.key) return;
    this.value = this.read();
    this.notify();
  };

  private notify(): void {
    for (const fn of this.listeners) fn();
  }

  private read(): T {
    try {
      return { ...this.initial, ...(JSON.parse(inBrowser.getItem(this.key) ?? "{}") as Partial<T>) };
    } catch {
      return this.initial;
    }
  }
}

/** The current value, in a component. */
export const useStored = <T extends object>(stored: Stored<T>): T => useSyncExternalStore(stored.subscribe, stored.get);
