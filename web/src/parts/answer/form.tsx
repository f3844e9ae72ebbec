// A form made of a JSON Schema.
import { Plus, Trash2 } from "lucide-react";
import { useId } from "react";
import { Button, IconButton } from "@/ui/button";
import { AreaField, CheckField, SelectField, TextField } from "@/ui/field";
import { Words } from "../words/words";
import { type Draft, draftOf, type Faults, join } from "./draft";
import type { Ask, ChoiceAsk, ListAsk, NumberAsk, ObjectAsk, TextAsk } from "./schema";

interface FieldProps<A extends Ask = Ask> {
  readonly ask: A;
  readonly draft: Draft;
  readonly path: string;
  readonly required: boolean;
  readonly faults: Faults;
  readonly disabled: boolean;
  readonly onChange: (draft: Draft) => void;
}

/** The fields of a form, each with its error. */
export function Fields(props: FieldProps) {
  const { ask, draft } = props;
  if (!ask.nullable) return <Field {...props} />;
  return (
    <div className="flex flex-col gap-1">
      {!draft.none && <Field {...props} />}
      <CheckField label={draft.none ? <><Words text={titleOf(props)} />: no value</> : "No value"} checked={draft.none} disabled={props.disabled} error={draft.none ? props.faults.get(props.path) : undefined} onChange={(e) => props.onChange({ ...draft, none: e.target.checked })} />
    </div>
  );
}

function Field(props: FieldProps) {
  const { ask } = props;
  switch (ask.kind) {
    case "text":
      return <TextInput {...props} ask={ask} />;
    case "number":
      return <NumberInput {...props} ask={ask} />;
    case "yes-no":
      return <YesNoInput {...props} />;
    case "choice":
      return <ChoiceInput {...props} ask={ask} />;
    case "list":
      return <ListInput {...props} ask={ask} />;
    case "object":
      return <ObjectInput {...props} ask={ask} />;
    case "json":
      return <JsonInput {...props} />;
  }
}

const titleOf = ({ ask, path }: FieldProps): string => (ask.title !== "" ? ask.title : path === "" ? "Answer" : path);

// What all controls of single fields share.
function frameOf(props: FieldProps, more = "") {
  const hint = [props.ask.about, more].filter((s) => s !== "").join(" ");
  return {
    label: (
      <>
        <Words text={titleOf(props).slice(0, 300)} />
        {!props.required && <span className="font-normal text-soft"> (optional)</span>}
      </>
    ),
    hint: hint === "" ? undefined : <Words text={hint.slice(0, 1000)} />,
    error: props.faults.get(props.path),
    disabled: props.disabled,
    "aria-required": props.required || undefined,
  };
}

const inputTypes: Record<string, string> = { email: "email", uri: "url", url: "url", date: "date", time: "time", password: "password" };

function TextInput(props: FieldProps<TextAsk>) {
  const { ask, draft, onChange } = props;
  const text = draft.kind === "text" ? draft.text : "";
  const set = (next: string) => onChange({ kind: "text", text: next, none: false });
  const hints = [ask.pattern === undefined ? "" : `Pattern: ${ask.pattern.slice(0, 100)}.`, ask.format === "date-time" ? "A date and time such as 2026-11-20T10:00:00Z." : ""];
  const frame = frameOf(props, hints.filter((h) => h !== "").join(" "));
  if (ask.long || text.includes("\n")) return <AreaField {...frame} value={text} onChange={(e) => set(e.target.value)} />;
  return <TextField {...frame} type={Object.hasOwn(inputTypes, ask.format) ? inputTypes[ask.format] : "text"} autoComplete="off" value={text} onChange={(e) => set(e.target.value)} />;
}

function NumberInput(props: FieldProps<NumberAsk>) {
  const { ask, draft, onChange } = props;
  const range =
    ask.least !== undefined && ask.most !== undefined ? `From ${ask.least} to ${ask.most}.` : ask.least !== undefined ? `At least ${ask.least}.` : ask.most !== undefined ? `At most ${ask.most}.` : "";
  // A field of type number would round what has many digits.
  return (
    <TextField
      {...frameOf(props, range)}
      inputMode={ask.whole ? "numeric" : "decimal"}
      autoComplete="off"
      value={draft.kind === "text" ? draft.text : ""}
      onChange={(e) => onChange({ kind: "text", text: e.target.value, none: false })}
    />
  );
}

function YesNoInput(props: FieldProps) {
  const yes = props.draft.kind === "yes-no" ? props.draft.yes : undefined;
  return (
    <SelectField
      {...frameOf(props)}
      value={yes === undefined ? "" : yes ? "yes" : "no"}
      onChange={(e) => props.onChange({ kind: "yes-no", yes: e.target.value === "" ? undefined : e.target.value === "yes", none: false })}
    >
      <option value="">{props.required ? "Choose…" : "No answer"}</option>
      <option value="yes">Yes</option>
      <option value="no">No</option>
    </SelectField>
  );
}

function ChoiceInput(props: FieldProps<ChoiceAsk>) {
  const index = props.draft.kind === "choice" ? props.draft.index : -1;
  return (
    <SelectField {...frameOf(props)} value={index} onChange={(e) => props.onChange({ kind: "choice", index: Number(e.target.value), none: false })}>
      <option value={-1}>{props.required ? "Choose…" : "No answer"}</option>
      {props.ask.options.map((o, i) => (
        <option key={i} value={i}>
          {o.words.slice(0, 200)}
        </option>
      ))}
    </SelectField>
  );
}

function ListInput(props: FieldProps<ListAsk>) {
  const { ask, path, onChange, faults, disabled } = props;
  const items = props.draft.kind === "list" ? props.draft.items : [];
  const set = (next: readonly Draft[]) => onChange({ kind: "list", items: next, none: false });
  const id = useId();
  return (
    <fieldset aria-describedby={faults.has(path) ? id : undefined} className="flex flex-col gap-2">
      <Legend {...props} />
      {items.map((item, i) => (
        <div key={i} className="flex items-end gap-1">
          <div className="min-w-0 flex-1">
            <Fields ask={{ ...ask.of, title: `${titleOf(props)} ${i + 1}` }} draft={item} path={`${path}[${i}]`} required faults={faults} disabled={disabled} onChange={(d) => set(items.with(i, d))} />
          </div>
          <IconButton label={`Remove ${titleOf(props).slice(0, 60)} ${i + 1}`} disabled={disabled} onClick={() => set(items.toSpliced(i, 1))}>
            <Trash2 aria-hidden className="size-4" />
          </IconButton>
        </div>
      ))}
      <Button small className="w-fit" disabled={disabled || (ask.most !== undefined && items.length >= ask.most)} icon={<Plus aria-hidden className="size-3.5" />} onClick={() => set([...items, draftOf(ask.of)])}>
        Add
      </Button>
      <Fault id={id} text={faults.get(path)} />
    </fieldset>
  );
}

function ObjectInput(props: FieldProps<ObjectAsk>) {
  const { ask, path, onChange, faults, disabled } = props;
  const id = useId();
  const members = props.draft.kind === "object" ? props.draft.members : [];
  const fields = ask.members.map((m, i) => {
    const draft = members[i];
    return draft === undefined ? null : (
      <Fields key={m.name} ask={m.ask} draft={draft} path={join(path, m.name)} required={m.required} faults={faults} disabled={disabled} onChange={(d) => onChange({ kind: "object", members: members.with(i, d), none: false })} />
    );
  });
  if (path === "") {
    return (
      <div className="flex flex-col gap-3">
        {ask.about !== "" && (
          <p className="text-sm text-soft">
            <Words text={ask.about} />
          </p>
        )}
        {fields}
        <Fault id={id} text={faults.get("")} />
      </div>
    );
  }
  return (
    <fieldset aria-describedby={faults.has(path) ? id : undefined} className="flex flex-col gap-3 border-l-2 border-line pl-3">
      <Legend {...props} />
      {fields}
      <Fault id={id} text={faults.get(path)} />
    </fieldset>
  );
}

function JsonInput(props: FieldProps) {
  return (
    <AreaField
      {...frameOf(props, "JSON: put text in quotes, but not numbers, true or false.")}
      className="font-mono"
      spellCheck={false}
      rows={5}
      value={props.draft.kind === "text" ? props.draft.text : ""}
      onChange={(e) => props.onChange({ kind: "text", text: e.target.value, none: false })}
    />
  );
}

function Legend(props: FieldProps) {
  const { label, hint } = frameOf(props);
  return (
    <>
      <legend className="mb-1 text-sm font-medium">{label}</legend>
      {hint !== undefined && <p className="text-sm text-soft">{hint}</p>}
    </>
  );
}

function Fault({ id, text }: { id: string; text: string | undefined }) {
  if (text === undefined) return null;
  return (
    <p id={id} role="alert" className="text-sm text-bad">
      <Words text={text} />
    </p>
  );
}
