// Rows as CSV (RFC 4180) for a spreadsheet.
import type { Fields } from "./shape";
import { plain } from "./words";

/** The rows as CSV. A text that a spreadsheet would take for a formula gets an apostrophe before it. */
export function csv(columns: readonly string[], rows: readonly Fields[]): string {
  const lines = [columns.map((c) => cell(c)), ...rows.map((row) => columns.map((c) => cell(Object.hasOwn(row, c) ? row[c] : null)))];
  return lines.map((l) => l.join(",")).join("\r\n") + "\r\n";
}

function cell(value: unknown): string {
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  const text = plain(value);
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
