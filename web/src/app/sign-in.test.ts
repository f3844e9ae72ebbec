// Two tabs are two BroadcastChannels of one name.
import { afterAll, afterEach, expect, it } from "vitest";
import { type Caller, ShoalError } from "@shoal-dev/client";
import { watchSignIn } from "./sign-in";

const other = new BroadcastChannel("shoal.signed");
const admin: Caller = { role: "admin", sessionId: null, entityId: null, keyId: "key_1", scopes: [], signInId: null, acts: [] };
const gone = new ShoalError(401, "unauthenticated", "");
const away = new ShoalError(503, "busy", "");
let stop: (() => void) | undefined;

afterEach(() => stop?.());
afterAll(() => other.close());

it.each<[string, Caller | ShoalError, boolean]>([
  ["signs out", gone, true],
  ["signs in with other rights", { ...admin, role: "entity", sessionId: "default", entityId: "kim" }, true],
  ["signs in with the same rights", { ...admin, keyId: "key_2" }, false],
  ["reports a change while the server is unreachable", away, false],
])("another tab %s", async (_, found, begun) => {
  const changes: string[] = [];
  await new Promise<void>((resolve) => {
    stop = watchSignIn(admin, () => void changes.push("changed"), () => {
      setTimeout(resolve); // after everything that the response causes
      return found instanceof ShoalError ? Promise.reject(found) : Promise.resolve(found);
    });
    other.postMessage(null);
  });
  expect(changes).toEqual(begun ? ["changed"] : []);
});
