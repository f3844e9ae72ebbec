// What the page does with the answer of an OpenID provider. test/console has a real one.
import { beforeEach, describe, expect, it, vi } from "vitest";
import { keepHalf } from "@/api/sign-in";

vi.mock("@/api/sign-in", () => ({ keepHalf: vi.fn(async () => {}), signInHeaders: async () => ({}) }));

const answer = (state: string) => `/s/default#oidc=${encodeURIComponent(`code=c&state=${state}`)}`;

beforeEach(() => {
  vi.resetModules();
  vi.clearAllMocks();
  sessionStorage.clear();
});

const opened = async (address: string, begun?: { state: string; back: string }) => {
  const fetched = vi.fn<typeof fetch>(async () => new Response(JSON.stringify({ signIn: "half" }), { status: 200 }));
  vi.stubGlobal("fetch", fetched);
  history.replaceState(null, "", address);
  if (begun !== undefined) sessionStorage.setItem("shoal.provider", JSON.stringify(begun));
  const { finishSignIn } = await import("./provider");
  return { fetched, finishSignIn };
};

describe("the provider's answer", () => {
  it("signs in where the sign-in was begun, and returns to its page", async () => {
    const { fetched, finishSignIn } = await opened(answer("s"), { state: "s", back: "/s/default/runs?failed=true" });
    expect(await finishSignIn()).toBe("/s/default/runs?failed=true");
    expect(fetched.mock.calls[0]?.[0]).toBe("/console/oidc/finish");
    expect(fetched.mock.calls[0]?.[1]?.body).toBe('{"code":"c","state":"s"}');
    expect(keepHalf).toHaveBeenCalledWith("half");
    expect(location.hash).toBe("");
    expect(sessionStorage.length).toBe(0);
  });

  it.each([["another sign-in", { state: "other", back: "/" }], ["no sign-in of this window", undefined]])("is not used for %s", async (_, begun) => {
    const { fetched, finishSignIn } = await opened(answer("s"), begun);
    await expect(finishSignIn()).rejects.toThrow(/has not begun this sign-in/);
    expect(fetched).not.toHaveBeenCalled();
  });

  it("is sought once, and only in the fragment", async () => {
    const { finishSignIn } = await opened("/s/default?oidc=code%3Dc");
    expect(finishSignIn()).toBeUndefined();
  });

  it.each(["//evil.example/x", "https://evil.example/x", "/\\evil.example", "javascript:alert(1)"])("never leads to %s", async (back) => {
    const { finishSignIn } = await opened(answer("s"), { state: "s", back });
    expect(await finishSignIn()).toBe("/");
  });
});
