import { cleanup, render, screen } from "@testing-library/react";
import { afterEach, expect, it } from "vitest";
import { Problem } from "@/client/problem";
import { Failed } from "./shown";

afterEach(cleanup);

const body = { detail: "Something went wrong here.", code: "internal", requestId: "req_7" };

it("says which request the server failed at, for whoever reads its log", () => {
  render(<Failed error={Problem.of(500, body)} />);
  expect(screen.getByRole("alert").textContent).toBe("Something went wrong here.Request req_7");
});

it.each([
  ["what the reader can mend himself", Problem.of(422, body)],
  ["a server that did not answer", Problem.unreachable()],
])("names none for %s", (_, error) => {
  render(<Failed error={error} />);
  expect(screen.getByRole("alert").textContent).not.toContain("Request");
});
