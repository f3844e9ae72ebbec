// One field of the config in a form. What it takes, what it means and what it is
// by default are the schema's to say.
import { duration } from "@/ui/time";
import { AreaField, CheckField, SelectField, TextField } from "@/ui/field";
import { getIn, type Json, type Path, pathText } from "../config/json";
import { type FieldShape, shapeAt } from "../config/schema";
import { wrongAt } from "../config/tabs";
import { writeValue } from "../config/text";
import { useDraftContext } from "../draft";
import { CodeArea } from "./code-area";

interface Props {
  path: Path;
  label: string;
  /** Said besides what the schema says. */
  hint?: string;
  placeholder?: string;
  /** Shows a text with this many lines. */
  rows?: number;
  /** The label says it all: what the schema says is left out. */
  plain?: boolean;
}

/** A field of the config, with the control that fits what it takes. */
export function ConfigField({ path, label, hint, placeholder, rows, plain = false }: Props) {
  const { draft, schema, dispatch, disabled } = useDraftContext();
  const shape = shapeAt(schema, draft.config, path);
  const value = getIn(draft.config, path);
  if (shape.kind === "other" || !fits(shape, value)) return <PieceField path={path} label={label} hint={hint} placeholder={placeholder} />;

  const set = (to: Json | undefined) => dispatch({ type: "set", path, value: to });
  const error = wrongAt(draft.wrongs, path);
  const frame = { label: shape.required ? `${label} (required)` : label, hint: plain ? hint : hintOf(shape, path, value, hint), error, disabled, name: pathText(path) };
  switch (shape.kind) {
    case "flag":
      return <CheckField {...frame} checked={(value ?? shape.default) === true} onChange={(e) => set(e.target.checked)} />;
    case "choice":
      return (
        <SelectField {...frame} value={String(value ?? shape.default ?? "")} onChange={(e) => set(e.target.value === "" && !shape.choices.includes("") ? undefined : e.target.value)}>
          {value !== undefined && !shape.choices.includes(String(value)) && <option value={String(value)}>{String(value)} (unknown)</option>}
          {shape.default === undefined && value === undefined && <option value="">{shape.required ? "Choose one" : "Not set"}</option>}
          {shape.choices.map((c) => (
            <option key={c} value={c}>
              {c === "" ? "Not set" : c}
            </option>
          ))}
          {shape.default === undefined && value !== undefined && !shape.required && <option value="">Not set</option>}
        </SelectField>
      );
    case "number":
      return (
        <TextField
          {...frame}
          error={error ?? numberProblem(shape, value)}
          inputMode={shape.whole ? "numeric" : "decimal"}
          value={value === undefined || value === null ? "" : String(value)}
          placeholder={placeholder ?? (shape.default === undefined ? "not set" : String(shape.default))}
          onChange={(e) => set(numberOf(e.target.value))}
        />
      );
    default: {
      const props = { ...frame, value: String(value ?? ""), placeholder: placeholder ?? "" };
      const take = (text: string) => set(text === "" && !shape.required ? undefined : text);
      if (rows === undefined && !shape.long) return <TextField {...props} onChange={(e) => take(e.target.value)} />;
      return <AreaField {...props} rows={rows ?? 4} onChange={(e) => take(e.target.value)} />;
    }
  }
}

// A value that its control could not show is written as text instead of being lost.
function fits(shape: FieldShape, value: Json | undefined): boolean {
  if (value === undefined || value === null) return true;
  switch (shape.kind) {
    case "flag":
      return typeof value === "boolean";
    case "number":
      return typeof value !== "object" && typeof value !== "boolean";
    default:
      return typeof value === "string";
  }
}

/** The number in a text; the text itself while it is not a number, undefined for an empty text. */
export function numberOf(text: string): Json | undefined {
  const trimmed = text.trim();
  if (trimmed === "") return undefined;
  if (/^-?\d+$/.test(trimmed)) return Number.isSafeInteger(Number(trimmed)) ? Number(trimmed) : BigInt(trimmed);
  return /^-?\d*\.\d+$/.test(trimmed) ? Number(trimmed) : text;
}

function numberProblem(shape: FieldShape, value: Json | undefined): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === "string" || (shape.whole && typeof value === "number" && !Number.isInteger(value))) return shape.whole ? "It must be a whole number." : "It must be a number.";
  const n = Number(value);
  if ((shape.least !== undefined && n < shape.least) || (shape.most !== undefined && n > shape.most)) return `It must be from ${shape.least ?? 0} to ${shape.most ?? "any number"}.`;
  return undefined;
}

function hintOf(shape: FieldShape, path: Path, value: Json | undefined, more: string | undefined): string | undefined {
  const isTime = String(path.at(-1)).endsWith("Ms") || /milliseconds/i.test(shape.description ?? "");
  const set = value ?? shape.default;
  const parts = [shape.description, more, shape.kind === "number" && isTime && typeof set === "number" && set > 0 ? `Now ${duration(set).replace(/ 0 (s|min)$/, "")}.` : undefined].map((p) => (p === undefined || p === "" ? undefined : p.endsWith(".") ? p : `${p.replace(/[,;]$/, "")}.`));
  const said = parts.filter((p) => p !== undefined).join(" ");
  return said === "" ? undefined : said;
}

/** A part of the config that has no form: it is written as YAML or JSON. */
export function PieceField({ path, label, hint, placeholder, rows = 3 }: Props) {
  const { draft, schema, dispatch, disabled } = useDraftContext();
  const piece = draft.pieces.find((p) => pathText(p.path) === pathText(path));
  const value = getIn(draft.config, path);
  const text = piece?.text ?? (value === undefined || value === null || isEmpty(value) ? "" : writeValue(value, "yaml").replace(/\n$/, ""));
  const problem = piece?.problem;
  const marks = problem?.line === undefined ? undefined : new Map([[problem.line, problem.message]]);
  const said = [shapeAt(schema, draft.config, path).description, hint, "YAML or JSON."].filter(Boolean).join(" ");
  return (
    <CodeArea
      label={label}
      value={text}
      marks={marks}
      rows={rows}
      hint={said}
      placeholder={placeholder}
      disabled={disabled}
      error={problem === undefined ? wrongAt(draft.wrongs, path, true) : `Cannot parse this text: ${problem.message}`}
      onChange={(next) => dispatch({ type: "piece", path, text: next })}
    />
  );
}

const isEmpty = (value: Json): boolean => typeof value === "object" && value !== null && Object.keys(value).length === 0;
