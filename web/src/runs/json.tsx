// A JSON value or a long text to read and copy.
import { Words } from "@/parts/words/words";
import { CopyButton } from "@/ui/copy";

/** The value as text; strings that hold JSON are laid out too. */
export function laidOut(value: unknown): string {
  if (typeof value !== "string") return JSON.stringify(value, null, 2) ?? "";
  const first = value.trimStart()[0];
  if (first !== "{" && first !== "[") return value;
  try {
    return JSON.stringify(JSON.parse(value), null, 2);
  } catch {
    return value;
  }
}

/** A titled block with the value and a button that copies it. */
export function Value({ title, value }: { title: string; value: unknown }) {
  const text = laidOut(value);
  return (
    <section aria-label={title} className="min-w-0">
      <div className="flex items-center justify-between gap-2">
        <p className="min-w-0 truncate text-xs font-semibold text-soft">{title}</p>
        <CopyButton text={text} />
      </div>
      <pre tabIndex={0} aria-label={title} className="mt-1 max-h-72 overflow-auto rounded-md border border-line bg-sunken p-2 font-mono text-xs break-words whitespace-pre-wrap">
        {text === "" ? "(empty)" : <Words text={text} />}
      </pre>
    </section>
  );
}
