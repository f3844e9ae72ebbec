import { useMemo, useRef } from "react";
import { Button } from "@/ui/button";
import { CopyButton } from "@/ui/copy";
import { pathText } from "../config/json";
import { withoutDefaults } from "../config/schema";
import { lineOf } from "../config/text";
import { textOf, useDraftContext } from "../draft";
import { CodeArea, goToLine } from "../forms/code-area";

/** The whole config as one text. */
export function TextTab() {
  const { draft, schema, dispatch } = useDraftContext();
  const area = useRef<HTMLTextAreaElement>(null);
  const text = textOf(draft);
  const found = useMemo(() => draft.wrongs.map((w) => ({ ...w, line: lineOf(text, w.path) })), [draft.wrongs, text]);
  const marks = new Map<number, string>();
  for (const w of found) if (w.line !== undefined) marks.set(w.line, `${pathText(w.path)} ${w.message}`);
  if (draft.problem?.line !== undefined) marks.set(draft.problem.line, draft.problem.message);
  return (
    <div className="flex h-full min-h-[28rem] flex-col gap-3 p-5">
      <div className="flex flex-wrap items-center gap-2">
        <div role="group" aria-label="Format" className="flex gap-1">
          {(["yaml", "json"] as const).map((format) => (
            <Button key={format} small tone={draft.format === format ? "primary" : "plain"} aria-pressed={draft.format === format} disabled={draft.problem !== undefined} onClick={() => dispatch({ type: "format", format })}>
              {format.toUpperCase()}
            </Button>
          ))}
        </div>
        <Button small disabled={draft.problem !== undefined} onClick={() => dispatch({ type: "replace", config: withoutDefaults(schema, draft.config) })}>
          Hide defaults
        </Button>
        <CopyButton text={text} />
        <a className="text-sm text-accent underline" href="/v1/agent-config.schema.json" target="_blank" rel="noreferrer">
          JSON Schema
        </a>
      </div>
      {draft.problem !== undefined && (
        <div role="alert" className="flex flex-wrap items-center gap-3 rounded-md border border-bad bg-bad-soft px-3 py-2 text-sm text-bad">
          <span className="min-w-0 flex-1 basis-56">
            {draft.problem.line === undefined ? "" : `Line ${draft.problem.line}: `}
            {draft.problem.message}
          </span>
          <Button small onClick={() => dispatch({ type: "readable" })}>
            Restore the last valid text
          </Button>
        </div>
      )}
      {found.length > 0 && (
        <ul aria-label="What the server refused" className="max-h-40 overflow-y-auto rounded-md border border-bad bg-bad-soft px-3 py-2 text-sm">
          {found.map((w, i) => (
            <li key={i}>
              {w.line === undefined ? (
                <span>
                  <code>{pathText(w.path)}</code> {w.message}
                </span>
              ) : (
                <button type="button" className="min-h-6 touch:min-h-11 text-left underline decoration-dotted" onClick={() => goToLine(area.current, w.line ?? 1)}>
                  Line {w.line}: <code>{pathText(w.path)}</code> {w.message}
                </button>
              )}
            </li>
          ))}
        </ul>
      )}
      <CodeArea
        fill
        indents
        label="Config"
        labelled={false}
        areaRef={area}
        value={text}
        marks={marks}
        error={draft.problem === undefined ? undefined : "The forms on the other tabs are disabled until this text is valid."}
        hint="The server stores the config's values. Comments and formatting are not saved."
        onChange={(next) => dispatch({ type: "text", text: next })}
      />
    </div>
  );
}
