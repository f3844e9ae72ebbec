import { afterEach, expect, it, vi } from "vitest";
import { inBrowser } from "./storage";
import { change, currentSettings } from "./settings";

afterEach(() => vi.unstubAllGlobals());

function storage(): Pick<Storage, "getItem" | "setItem" | "removeItem"> {
  const held = new Map<string, string>();
  return { getItem: (k) => held.get(k) ?? null, setItem: (k, v) => void held.set(k, v), removeItem: (k) => void held.delete(k) };
}

it("stores values for the browser", () => {
  const browser = storage();
  vi.stubGlobal("localStorage", browser);
  inBrowser.setItem("a", "1");
  expect(browser.getItem("a")).toBe("1");
  inBrowser.removeItem("a");
  expect(inBrowser.getItem("a")).toBeNull();
});

it("works without storage if the browser refuses it", () => {
  const refuse = () => {
    throw new DOMException("no room", "QuotaExceededError");
  };
  vi.stubGlobal("document", { documentElement: { dataset: {} } });
  vi.stubGlobal("localStorage", { getItem: refuse, setItem: refuse, removeItem: refuse });
  inBrowser.setItem("a", "1");
  inBrowser.removeItem("a");
  expect(inBrowser.getItem("a")).toBeNull();
  change({ theme: "dark" }); // a setting lasts at least as long as the page
  expect(currentSettings().theme).toBe("dark");
});
