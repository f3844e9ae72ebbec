// What a program can distinguish.
import { expect, it } from "vitest";
import { ConflictError, ExpiredError, ForbiddenError, InvalidError, NotFoundError, RateLimitedError, ShoalError, UnauthenticatedError, UnreachableError } from "./errors.js";

it.each([
  [401, "unauthenticated", UnauthenticatedError],
  [403, "identity_mismatch", ForbiddenError],
  [404, "not_found", NotFoundError],
  [409, "already_answered", ConflictError],
  [410, "expired", ExpiredError],
  [422, "invalid_argument", InvalidError],
  [429, "rate_limited", RateLimitedError],
])("has a class for status %i that keeps the code %s", (status, code, kind) => {
  const error = ShoalError.of(status, { code, detail: "no", requestId: "r1", errors: [{ location: "body.a", message: "bad" }] }, 2000);
  expect(error).toBeInstanceOf(kind);
  expect(error).toBeInstanceOf(ShoalError);
  expect(error).toMatchObject({ name: kind.name, status, code, message: "no", requestId: "r1", retryAfterMs: 2000 });
  expect(error.at("body.a")).toBe("bad");
});

it.each([
  [401, "unauthenticated", UnauthenticatedError],
  [502, "unreachable", UnreachableError],
  [500, "internal", ShoalError],
])("has a code for a response of a proxy with status %i", (status, code, kind) => {
  const error = ShoalError.of(status, undefined);
  expect(error.constructor).toBe(kind);
  expect(error).toMatchObject({ code, message: `The server returned status ${status}.` });
});
