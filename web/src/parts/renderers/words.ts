// Names of members and single values as people read them.
import { isFields, isMoney, member } from "./shape";

/** The name of a member as words: `inStock` is In stock. Other names stay as they are. */
export function label(name: string): string {
  if (!/^[A-Za-z][A-Za-z0-9]*([_-][A-Za-z0-9]+)*$/.test(name)) return name;
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replace(/[_-]+/g, " ")
    .split(" ")
    .map((w) => (/^[A-Z0-9]{2,}$/.test(w) ? w : w.toLowerCase()))
    .join(" ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

const priced = /^(price|amount|total|cost|sum|subtotal|fee|budget)$/i;

// Nothing is rounded: people approve what they read.
const mostDigits = 20;

/** A sum with its currency, as the reader's language writes it. */
export function money(amount: number, currency: string): string {
  try {
    return new Intl.NumberFormat(undefined, { style: "currency", currency, maximumFractionDigits: Number.isInteger(amount) ? 0 : mostDigits }).format(amount);
  } catch {
    return `${amount} ${currency}`;
  }
}

/** The amount of money in a member, with the currency next to it if there is one; undefined if the member is not money. */
export function moneyOf(object: unknown, name: string): string | undefined {
  const value = member(object, name);
  if (isMoney(value)) return money(value.amount, value.currency);
  const currency = isFields(object) ? member(object, "currency") : undefined;
  if (typeof value === "number" && currency === undefined && priced.test(name)) return value.toLocaleString(undefined, { maximumFractionDigits: mostDigits });
  if (typeof value !== "number" || typeof currency !== "string" || !/^[A-Z]{3}$/.test(currency) || !priced.test(name)) return undefined;
  return money(value, currency);
}

/** The member that is an object's title, if it has one. */
export function titleKey(object: unknown): string | undefined {
  return isFields(object) ? Object.keys(object).find((k) => (k === "title" || k === "name") && typeof object[k] === "string" && object[k] !== "") : undefined;
}

/** Whether a member is shown as part of another: the currency of a price. */
export function toldElsewhere(object: unknown, name: string): boolean {
  return name === "currency" && isFields(object) && Object.keys(object).some((k) => k !== "currency" && moneyOf(object, k) !== undefined);
}

const dateTime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/;

/** A text that is a moment; undefined for other texts. */
export function momentOf(text: string): Date | undefined {
  if (text.length > 40 || !dateTime.test(text)) return undefined;
  const at = new Date(text);
  return Number.isNaN(at.getTime()) ? undefined : at;
}

/** A single value as a text, exactly. */
export function plain(value: unknown): string {
  if (typeof value === "string") return value;
  if (value === null || value === undefined) return "";
  if (isMoney(value)) return money(value.amount, value.currency);
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
