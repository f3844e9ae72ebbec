import { describe, expect, it } from "vitest";
import { chartOf, mostPoints, ticks } from "./chart-data";
import { csv } from "./csv";
import { hintOf, lookOf, namedLook } from "./shape";
import { label, moneyOf } from "./words";

describe("the look of a value", () => {
  it.each([
    ["a flat object", { a: 1, b: "x" }, "kv"],
    ["an object with money", { total: { amount: 1, currency: "EUR" } }, "kv"],
    ["rows", [{ a: 1 }, { a: 2, b: 3 }], "table"],
    ["a chart", { type: "bar", x: "m", y: ["v"], data: [{ m: 1, v: 2 }] }, "chart"],
    ["the content of an MCP tool", { content: [{ type: "text", text: "x" }] }, "content"],
    ["a text", "x", "text"],
    ["an object with objects", { a: { b: 1 } }, "json"],
    ["a list of texts", ["a", "b"], "json"],
    ["nothing", null, "nothing"],
    ["an empty object", {}, "nothing"],
  ])("%s", (_, value, look) => expect(lookOf(value)).toBe(look));

  it("is the configured one, if the value fits", () => {
    expect(lookOf({ rows: [{ a: 1 }] }, "table")).toBe("table");
    expect(lookOf({ a: 1 }, "chart")).toBe("kv");
    expect(lookOf({ a: 1, "x-shoal": { render: "json" } })).toBe("json");
  });

  it("is declared by a tool in several ways", () => {
    expect(hintOf({ render: "chart" })).toBe("chart");
    expect(hintOf({ "x-shoal": { render: "table" } })).toBe("table");
    expect(hintOf({ "x-shoal.render": "diff" })).toBe("diff");
    expect(hintOf({ customUI: "ProductCard" })).toBeUndefined();
    expect(namedLook("__proto__")).toBeUndefined();
  });
});

describe("words", () => {
  it.each([["inStock", "In stock"], ["order_id", "Order id"], ["baseURL", "Base URL"], ["<b>", "<b>"], ["two words", "two words"]])("%s is %s", (name, words) => expect(label(name)).toBe(words));
  it("writes money with its currency where that is known, and rounds nothing", () => {
    expect(moneyOf({ price: 1199, currency: "EUR" }, "price")).toBe("€1,199");
    expect(moneyOf({ price: 1199.5, currency: "EUR" }, "price")).toBe("€1,199.50");
    expect(moneyOf({ price: 1199.0049, currency: "EUR" }, "price")).toBe("€1,199.0049");
    expect(moneyOf({ price: 1199 }, "price")).toBe("1,199");
    expect(moneyOf({ price: 0.00012345 }, "price")).toBe("0.00012345");
    expect(moneyOf({ price: 1199, currency: "pearls" }, "price")).toBeUndefined();
    expect(moneyOf({ year: 2026 }, "year")).toBeUndefined();
    expect(moneyOf({ weight: 3, currency: "EUR" }, "weight")).toBeUndefined();
  });
});

describe("CSV", () => {
  it("quotes what has to be quoted", () => expect(csv(["a", "b"], [{ a: 'x "y", z', b: 1 }, { b: null }])).toBe('a,b\r\n"x ""y"", z",1\r\n,\r\n'));
  it("holds no formula", () => expect(csv(["a"], [{ a: "=1+1" }, { a: "@x" }, { a: -1 }])).toBe("a\r\n'=1+1\r\n'@x\r\n-1\r\n"));
});

describe("charts", () => {
  it("make a line of each value of a series", () => {
    const c = chartOf({ type: "line", x: "m", y: ["v"], series: "s", data: [{ m: "a", v: 1, s: "p" }, { m: "a", v: 2, s: "q" }, { m: "b", v: 3, s: "q" }] });
    expect(c?.labels).toEqual(["a", "b"]);
    expect(c?.series).toEqual([{ name: "p", values: [1, null] }, { name: "q", values: [2, 3] }]);
  });
  it("draw no more points than they can", () => {
    const c = chartOf({ type: "bar", x: "i", y: ["v"], data: Array.from({ length: 5000 }, (_, i) => ({ i, v: i })) });
    expect(c?.labels.length).toBe(mostPoints);
    expect(c?.left).toBe(3000);
  });
  it("of texts are not a chart", () => expect(chartOf({ type: "bar", x: "a", y: ["b"], data: [{ a: 1, b: "x" }] })).toBeUndefined());
  it("have round marks", () => {
    expect(ticks(0, 85)).toEqual([0, 20, 40, 60, 80, 100]);
    expect(ticks(-3, 3)).toEqual([-4, -2, 0, 2, 4]);
    expect(ticks(0, 0)).toEqual([0, 1]);
    expect(ticks(-1e300, 1e300).every(Number.isFinite)).toBe(true);
  });
});

// A value can name its members as objects of a script do; a String() of it would throw.
it.each([
  { amount: 1, currency: { toString: 1, valueOf: 1 } },
  [{ type: { toString: null } }],
  { content: [{ type: { toString: 1, valueOf: 1 } }] },
  { __proto__: null, type: { toString: 1 }, x: { toString: 1 }, data: [] },
  JSON.parse('{"__proto__": {"toString": 1}, "constructor": 1, "hasOwnProperty": 1}') as unknown,
])("%j has a shape like any other", (value) => {
  expect(typeof lookOf(value)).toBe("string");
  expect(typeof lookOf([value])).toBe("string");
  expect(typeof lookOf({ rows: [value], "x-shoal": { render: { toString: 1 } } })).toBe("string");
});
