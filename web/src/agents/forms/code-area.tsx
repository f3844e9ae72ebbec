// A text area for code: lines have numbers, wrong ones a mark.
import { type KeyboardEvent, useId, useRef } from "react";
import { classes } from "@/ui/classes";

interface Props {
  label: string;
  /** Whether the label is drawn; it is always there for screen readers. */
  labelled?: boolean;
  value: string;
  onChange: (text: string) => void;
  /** What is wrong, by the number of its line. */
  marks?: ReadonlyMap<number, string>;
  hint?: string | undefined;
  error?: string | undefined;
  /** Whether the Tab key indents; Escape before it leaves the text. */
  indents?: boolean;
  /** Fills the height that is there, instead of having `rows` lines. */
  fill?: boolean;
  rows?: number;
  disabled?: boolean;
  /** Where to place the cursor: set `ref.current` to reach the area. */
  areaRef?: React.RefObject<HTMLTextAreaElement | null>;
  placeholder?: string;
}

export function CodeArea({ label, labelled = true, value, onChange, marks, hint, error, indents = false, fill = false, rows = 6, disabled = false, areaRef, placeholder }: Props) {
  const id = useId();
  const gutter = useRef<HTMLDivElement>(null);
  const leaving = useRef(false);
  const own = useRef<HTMLTextAreaElement>(null);
  const area = areaRef ?? own;
  const count = value.split("\n").length;
  const said = [indents && "Tab indents, Shift+Tab unindents. To leave the field by keyboard, press Escape, then Tab.", hint].filter(Boolean).join(" ");

  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (!indents) return;
    if (event.key === "Escape") leaving.current = true;
    else if (event.key === "Tab" && !leaving.current && !event.ctrlKey && !event.altKey && !event.metaKey) {
      event.preventDefault();
      if (event.shiftKey) outdent(event.currentTarget, onChange);
      else insert(event.currentTarget, "  ", onChange);
    } else if (event.key !== "Shift") leaving.current = false;
  };

  return (
    <div className={classes("flex flex-col gap-1", fill && "min-h-0 flex-1")}>
      <label htmlFor={id} className={labelled ? "text-sm font-medium" : "sr-only"}>
        {label}
      </label>
      <div className={classes("flex overflow-hidden rounded-md border bg-surface font-mono text-[13px] leading-5 focus-within:outline-2 focus-within:outline-offset-2 focus-within:outline-accent", error === undefined ? "border-edge" : "border-bad", fill && "min-h-60 flex-1")}>
        <div ref={gutter} aria-hidden className="w-11 shrink-0 overflow-hidden bg-sunken py-2 text-right text-soft select-none">
          {Array.from({ length: count }, (_, i) => (
            <div key={i} title={marks?.get(i + 1)} className={classes("pr-2", marks?.has(i + 1) === true && "bg-bad-soft font-semibold text-bad")}>
              {marks?.has(i + 1) === true ? `! ${i + 1}` : i + 1}
            </div>
          ))}
          <div className="h-6" />
        </div>
        <textarea
          id={id}
          ref={area}
          value={value}
          rows={fill ? undefined : Math.min(Math.max(rows, count), 24)}
          wrap="off"
          spellCheck={false}
          autoCapitalize="off"
          autoCorrect="off"
          disabled={disabled}
          placeholder={placeholder}
          aria-invalid={error !== undefined || undefined}
          aria-describedby={`${id}-hint${error === undefined ? "" : ` ${id}-error`}`}
          onChange={(event) => onChange(event.target.value)}
          onKeyDown={onKeyDown}
          onBlur={() => (leaving.current = false)}
          onScroll={(event) => {
            if (gutter.current !== null) gutter.current.scrollTop = event.currentTarget.scrollTop;
          }}
          className="min-w-0 flex-1 resize-none overflow-auto bg-transparent px-2 py-2 whitespace-pre text-ink outline-none placeholder:text-soft disabled:opacity-60"
        />
      </div>
      {said !== "" && (
        <p id={`${id}-hint`} className="text-sm text-soft">
          {said}
        </p>
      )}
      {error !== undefined && (
        <p id={`${id}-error`} className="text-sm whitespace-pre-line text-bad">
          {error}
        </p>
      )}
    </div>
  );
}

// The browser's own command keeps its undo; where it is missing the text is set.
function insert(area: HTMLTextAreaElement, text: string, onChange: (text: string) => void): void {
  if (typeof document.execCommand === "function" && document.execCommand("insertText", false, text)) return;
  area.setRangeText(text, area.selectionStart, area.selectionEnd, "end");
  onChange(area.value);
}

function outdent(area: HTMLTextAreaElement, onChange: (text: string) => void): void {
  const begin = area.value.lastIndexOf("\n", area.selectionStart - 1) + 1;
  const spaces = /^ {0,2}/.exec(area.value.slice(begin))?.[0].length ?? 0;
  if (spaces === 0) return;
  const cursor = Math.max(begin, area.selectionStart - spaces);
  area.setRangeText("", begin, begin + spaces, "preserve");
  area.setSelectionRange(cursor, cursor);
  onChange(area.value);
}

/** Puts the cursor at the beginning of a line and shows it. */
export function goToLine(area: HTMLTextAreaElement | null, line: number): void {
  if (area === null) return;
  const at = area.value.split("\n").slice(0, line - 1).reduce((n, l) => n + l.length + 1, 0);
  area.focus();
  area.setSelectionRange(at, at + (area.value.slice(at).split("\n")[0]?.length ?? 0));
  area.scrollTop = Math.max(0, (line - 4) * 20);
}
