// The sign-in when the browser's storage does not respond.
import { afterEach, beforeEach, expect, it, vi } from "vitest";

/** Storage that responds, or hangs: then it never calls back. */
class Storage {
  hangs = false;
  asked = 0;
  readonly kept = new Map<string, string>();

  open() {
    this.asked++;
    const request: Record<string, unknown> = {};
    this.later(() => {
      request.result = { transaction: () => this.transaction(), createObjectStore: () => undefined };
      (request.onsuccess as () => void)();
    });
    return request;
  }

  private transaction() {
    const transaction: Record<string, unknown> = {
      objectStore: () => ({
        get: (key: string) => ({ result: this.kept.get(key) }),
        put: (value: string, key: string) => (this.kept.set(key, value), {}),
        delete: (key: string) => (this.kept.delete(key), {}),
      }),
    };
    this.later(() => (transaction.oncomplete as () => void)());
    return transaction;
  }

  private later(call: () => void) {
    if (!this.hangs) queueMicrotask(call);
  }
}

let storage: Storage;
let page: typeof import("./sign-in");

beforeEach(async () => {
  vi.useFakeTimers();
  vi.resetModules();
  storage = new Storage();
  vi.stubGlobal("indexedDB", storage);
  page = await import("./sign-in");
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

it("reports a hanging storage within seconds, and does not delay every call", async () => {
  storage.hangs = true;
  const first = expect(page.signInHeaders()).rejects.toMatchObject({ code: "storage_hangs", message: expect.stringContaining("does not respond") });
  await vi.advanceTimersByTimeAsync(3000);
  await first;
  await expect(page.signInHeaders()).rejects.toMatchObject({ code: "storage_hangs" });
  expect(storage.asked).toBe(1);
});

it("continues with the half that was read last", async () => {
  storage.kept.set("half", "h1");
  expect(await page.signInHeaders()).toEqual({ "X-Shoal-Sign-In": "h1" });
  storage.hangs = true;
  const second = page.signInHeaders();
  await vi.advanceTimersByTimeAsync(3000);
  expect(await second).toEqual({ "X-Shoal-Sign-In": "h1" });
});

it("tries again after a while, and reopens the database", async () => {
  storage.hangs = true;
  const first = expect(page.signInHalf()).rejects.toThrow();
  await vi.advanceTimersByTimeAsync(3000);
  await first;
  storage.hangs = false;
  storage.kept.set("half", "h2");
  await vi.advanceTimersByTimeAsync(10_000);
  expect(await page.signInHalf()).toBe("h2");
  expect(storage.asked).toBe(2);
});

it("refuses a sign-in that cannot be stored, and completes a sign-out", async () => {
  storage.hangs = true;
  const kept = expect(page.keepHalf("h3")).rejects.toMatchObject({ code: "storage_hangs" });
  await vi.advanceTimersByTimeAsync(3000);
  await kept;
  await page.dropHalf();
  expect(page.lastHalf()).toBeNull();
});
