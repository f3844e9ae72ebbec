import { cleanup, fireEvent, render, screen, waitFor } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ShoalError } from "@shoal-dev/client";
import { forgetSigned, signedURL } from "@/api/signed-url";
import { OwnFileLink, OwnImage } from "./own-file";

const url = "/v1/sessions/default/files/fil_1";
const POST = vi.hoisted(() => vi.fn<(path: string, init: unknown) => Promise<unknown>>());
vi.mock("@/api/client", () => ({ actor: () => "ann", api: { POST } }));

type Answer = () => { url: string; expiresAt: string };
const answers = (...list: Answer[]) => {
  POST.mockReset();
  POST.mockImplementation(async () => ((list.length > 1 ? list.shift() : list[0]) as Answer)());
  return POST;
};
let n = 0;
const signed = () => ({ url: `${url}?signed=${++n}`, expiresAt: "2126-01-01T00:00:00Z" });
const refused = () => {
  throw new ShoalError(404, "not_found", "There is no such session.");
};

beforeEach(() => {
  n = 0;
  vi.useFakeTimers({ toFake: ["Date"] });
});
afterEach(() => {
  cleanup();
  forgetSigned(url);
  vi.useRealTimers();
  vi.restoreAllMocks();
});

describe("a signed URL", () => {
  it("is asked for once while it works, and again a minute before it does not", async () => {
    const fetched = answers(signed);
    expect(await Promise.all([signedURL(url), signedURL(url)])).toEqual([`${url}?signed=1`, `${url}?signed=1`]);
    vi.advanceTimersByTime(4 * 60_000 - 1);
    expect(await signedURL(url)).toBe(`${url}?signed=1`);
    vi.advanceTimersByTime(1);
    expect(await signedURL(url)).toBe(`${url}?signed=2`);
    expect(fetched).toHaveBeenCalledTimes(2);
    expect(fetched.mock.calls[0]).toEqual(["/v1/sessions/{session}/signed-urls", { params: { path: { session: "default" } }, body: { url } }]);
  });

  it("that was refused is asked for again", async () => {
    answers(refused, signed);
    await expect(signedURL(url)).rejects.toThrow("no such session");
    expect(await signedURL(url)).toBe(`${url}?signed=1`);
  });
});

describe("a picture that this server keeps", () => {
  it("is signed again, once, if it does not load", async () => {
    const fetched = answers(signed);
    render(<OwnImage src={url} alt="a boat" />);
    const img = screen.getByAltText("a boat");
    expect(img.getAttribute("src")).toBeNull();
    await waitFor(() => expect(img.getAttribute("src")).toBe(`${url}?signed=1`));
    fireEvent.error(img);
    await waitFor(() => expect(img.getAttribute("src")).toBe(`${url}?signed=2`));
    fireEvent.error(img);
    fireEvent.error(img);
    expect(fetched).toHaveBeenCalledTimes(2);
  });
});

describe("a link to a file that this server keeps", () => {
  it("opens it in a tab without access to this one", async () => {
    answers(signed);
    const tab = { opener: window, location: { replace: vi.fn() }, close: vi.fn() };
    vi.spyOn(window, "open").mockReturnValue(tab as unknown as Window);
    render(<OwnFileLink url={url}>report</OwnFileLink>);
    expect(fireEvent.click(screen.getByText("report"))).toBe(false);
    await waitFor(() => expect(tab.location.replace).toHaveBeenCalledWith(`${url}?signed=1`));
    expect(tab.opener).toBeNull();
  });

  it("saves it under its name", async () => {
    answers(signed);
    const clicked: string[] = [];
    vi.spyOn(HTMLAnchorElement.prototype, "click").mockImplementation(function (this: HTMLAnchorElement) {
      clicked.push(`${this.getAttribute("href")} as ${this.download}`);
    });
    render(<OwnFileLink url={url} saveAs="report.pdf">report</OwnFileLink>);
    fireEvent.click(screen.getByText("report"));
    await waitFor(() => expect(clicked).toEqual([`${url}?signed=1 as report.pdf`]));
  });

  it("shows why it cannot be opened, and leaves no empty tab", async () => {
    answers(refused);
    const tab = { opener: window, location: { replace: vi.fn() }, close: vi.fn() };
    vi.spyOn(window, "open").mockReturnValue(tab as unknown as Window);
    render(<OwnFileLink url={url}>report</OwnFileLink>);
    fireEvent.click(screen.getByText("report"));
    expect((await screen.findByRole("alert")).textContent).toContain("There is no such session.");
    expect(tab.close).toHaveBeenCalledOnce();
    expect(tab.location.replace).not.toHaveBeenCalled();
  });
});
