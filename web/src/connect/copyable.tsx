// A text to copy: a file's content, a command, a secret.
import { classes } from "@/ui/classes";
import { CopyButton } from "@/ui/copy";

/** Shows `text` in a box with a copy button. `name` describes the text. One line wraps between its words, a file scrolls. */
export function Copyable({ text, name }: { text: string; name: string }) {
  const oneLine = !text.includes("\n");
  return (
    <figure className="min-w-0 overflow-hidden rounded-md border border-line bg-sunken">
      <figcaption className="flex items-center justify-between gap-2 border-b border-line px-3 py-1.5">
        <span className="min-w-0 truncate font-mono text-sm text-soft" title={name}>
          {name}
        </span>
        <CopyButton text={text} />
      </figcaption>
      <pre tabIndex={0} aria-label={name} className={classes("max-h-[30rem] overflow-auto px-3 py-2 font-mono text-sm", oneLine && "wrap-anywhere whitespace-pre-wrap")}>
        {oneLine ? words(text) : text}
      </pre>
    </figure>
  );
}

// A browser would break a line after a hyphen, inside the name of an option.
function words(line: string) {
  return line.split(/( )/).map((word, i) =>
    word === " " ? (
      word
    ) : (
      <span key={i} className="inline-block max-w-full">
        {word}
      </span>
    ),
  );
}
