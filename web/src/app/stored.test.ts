// @vitest-environment jsdom
import { beforeEach, expect, it, vi } from "vitest";
import { Stored } from "./stored";

beforeEach(() => localStorage.clear());

const initial = { size: 1, name: "one" };
const inOtherTab = (key: string, value: unknown) => {
  localStorage.setItem(key, JSON.stringify(value));
  window.dispatchEvent(new StorageEvent("storage", { key }));
};

it("is what is stored, and initial where nothing is", () => {
  localStorage.setItem("a", '{"size": 2}');
  expect(new Stored("a", initial).get()).toEqual({ size: 2, name: "one" });
  localStorage.setItem("a", "not JSON");
  expect(new Stored("a", initial).get()).toEqual(initial);
});

it("stores a change and reports it", () => {
  const stored = new Stored("a", initial);
  const changed = vi.fn();
  const stop = stored.subscribe(changed);
  stored.change({ name: "two" });
  expect(changed).toHaveBeenCalledOnce();
  expect(new Stored("a", initial).get()).toEqual({ size: 1, name: "two" });
  stop();
  stored.change({ name: "three" });
  expect(changed).toHaveBeenCalledOnce();
});

it("takes over what another tab changes, and nothing of another key", () => {
  const stored = new Stored("a", initial);
  const changed = vi.fn();
  stored.subscribe(changed);
  inOtherTab("b", { size: 3 });
  expect(changed).not.toHaveBeenCalled();
  inOtherTab("a", { size: 3 });
  expect(changed).toHaveBeenCalledOnce();
  expect(stored.get()).toEqual({ size: 3, name: "one" });
});
