import { cleanup, render, screen } from "@testing-library/react";
import { afterEach, expect, it } from "vitest";
import { ShoalError } from "@shoal-dev/client";
import { Failed } from "./placeholder";

afterEach(cleanup);

const body = { detail: "Something went wrong here.", code: "internal", requestId: "req_7" };

it("shows the id of the failed request, for the server's log", () => {
  render(<Failed error={ShoalError.of(500, body)} />);
  expect(screen.getByRole("alert").textContent).toBe("Something went wrong here.Request req_7");
});

it.each([
  ["an error that the reader can correct", ShoalError.of(422, body)],
  ["an unreachable server", ShoalError.unreachable()],
])("shows no id for %s", (_, error) => {
  render(<Failed error={error} />);
  expect(screen.getByRole("alert").textContent).not.toContain("Request");
});
