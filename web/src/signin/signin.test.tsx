// The page for visitors who are not signed in.
import { cleanup, render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, describe, expect, it, vi } from "vitest";
import { ShoalError } from "@shoal-dev/client";
import { keepHalf } from "@/api/sign-in";
import { SignIn } from "./signin";

vi.mock("@/api/sign-in", () => ({ keepHalf: vi.fn(async () => {}), signInHeaders: async () => ({}) }));

// test/console has a real provider.
vi.mock("./with-provider", () => ({ WithProvider: () => null }));

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const answers = (status: number, body: unknown) => {
  const fetched = vi.fn<typeof fetch>(async () => new Response(JSON.stringify(body), { status }));
  vi.stubGlobal("fetch", fetched);
  return fetched;
};

describe("the sign-in page", () => {
  it("explains how to get a link", () => {
    render(<SignIn refused={undefined} onSignedIn={vi.fn()} />);
    expect(screen.getByText("shoal console")).toBeTruthy();
    expect(screen.queryByRole("alert")).toBeNull();
  });

  it("explains a link that was used or has expired", () => {
    render(<SignIn refused={new ShoalError(401, "unauthenticated", "raw words")} onSignedIn={vi.fn()} />);
    expect(screen.getByRole("alert").textContent).toMatch(/once, within ten minutes.*another window/);
  });

  it("shows the server's message for other failures", () => {
    render(<SignIn refused={new ShoalError(429, "rate_limited", "Too many tries. Wait a minute.")} onSignedIn={vi.fn()} />);
    expect(screen.getByRole("alert").textContent).toContain("Too many tries. Wait a minute.");
  });

  it("signs in with a pasted key without surrounding blanks", async () => {
    const fetched = answers(200, { role: "entity", signIn: "half" });
    const done = vi.fn();
    render(<SignIn refused={undefined} onSignedIn={done} />);
    await userEvent.type(screen.getByLabelText("Your key"), "  shoal_abc ");
    await userEvent.click(screen.getByRole("button", { name: "Sign in" }));
    await waitFor(() => expect(done).toHaveBeenCalledOnce());
    expect(fetched.mock.calls[0]?.[0]).toBe("/console/login");
    expect(fetched.mock.calls[0]?.[1]?.body).toBe('{"key":"shoal_abc"}');
    expect(keepHalf).toHaveBeenCalledWith("half");
  });

  it("reports a browser that stores nothing", async () => {
    answers(200, { role: "entity", signIn: "half" });
    vi.mocked(keepHalf).mockRejectedValueOnce(new ShoalError(0, "not_kept", "This browser does not let the page keep its half."));
    const done = vi.fn();
    render(<SignIn refused={undefined} onSignedIn={done} />);
    await userEvent.type(screen.getByLabelText("Your key"), "shoal_abc{Enter}");
    expect(await screen.findByText(/does not let the page keep/)).toBeTruthy();
    expect(done).not.toHaveBeenCalled();
  });

  it("explains an invalid key beside the field", async () => {
    answers(401, { code: "unauthenticated", detail: "no" });
    render(<SignIn refused={undefined} onSignedIn={vi.fn()} />);
    await userEvent.type(screen.getByLabelText("Your key"), "shoal_abc{Enter}");
    expect(await screen.findByText(/revoked, have expired/)).toBeTruthy();
    expect(screen.getByLabelText("Your key").getAttribute("aria-invalid")).toBe("true");
  });

  it("does not send an empty key", async () => {
    const fetched = answers(200, {});
    render(<SignIn refused={undefined} onSignedIn={vi.fn()} />);
    await userEvent.click(screen.getByRole("button", { name: "Sign in" }));
    expect(screen.getByText("Paste your key first.")).toBeTruthy();
    expect(fetched).not.toHaveBeenCalled();
  });
});
