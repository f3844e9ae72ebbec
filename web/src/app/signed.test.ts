// Two tabs are two BroadcastChannels of one name.
import { afterAll, afterEach, expect, it } from "vitest";
import { Problem } from "@/client/problem";
import type { Caller } from "@/client/types";
import { watchSigned } from "./signed";

const other = new BroadcastChannel("shoal.signed");
const admin: Caller = { role: "admin", sessionId: null, entityId: null, keyId: "key_1" };
const gone = new Problem(401, "unauthenticated", "");
const away = new Problem(503, "busy", "");
let stop: (() => void) | undefined;

afterEach(() => stop?.());
afterAll(() => other.close());

it.each<[string, Caller | Problem, boolean]>([
  ["has signed out", gone, true],
  ["has signed in with other rights", { ...admin, role: "entity", sessionId: "default", entityId: "kim" }, true],
  ["has signed in with the same rights", { ...admin, keyId: "key_2" }, false],
  ["says something while the server is away", away, false],
])("another tab %s", async (_, found, begun) => {
  const told: string[] = [];
  await new Promise<void>((resolve) => {
    stop = watchSigned(admin, () => void told.push("changed"), () => {
      setTimeout(resolve); // behind whatever the answer leads to
      return found instanceof Problem ? Promise.reject(found) : Promise.resolve(found);
    });
    other.postMessage(null);
  });
  expect(told).toEqual(begun ? ["changed"] : []);
});
