// Parts of messages that need nobody's answer. They need no session around them.
import { Lock } from "lucide-react";
import { type DataPart, isShown, type Part } from "@shoal-dev/client";
import { Markdown } from "./markdown/markdown";
import { FileRow } from "./renderers/file";
import { promptsOf } from "./prompts";
import { lookOf, namedLook } from "./renderers/shape";
import { Value } from "./renderers/value";
import { Words } from "./words/words";

/** A text, a file, data, or a part that is shown to somebody else; `over`: its message is written no more. */
export function StillPart({ part, over }: { part: Part; over: boolean }) {
  if (!isShown(part)) {
    return (
      <p className="inline-flex items-center gap-1.5 text-sm text-soft italic">
        <Lock aria-hidden className="size-3.5" /> Shown to another member alone
      </p>
    );
  }
  switch (part.type) {
    case "text": {
      const interrupted = part.status === "interrupted" || (part.status === "streaming" && over);
      return (
        <div className="min-w-0">
          <Markdown text={part.text} streaming={part.status === "streaming" && !over} />
          {interrupted && <p className="mt-1 text-sm text-soft italic">Interrupted: the text ends here.</p>}
        </div>
      );
    }
    case "file":
      return <FileRow name={part.name} mediaType={part.mediaType} size={part.size} url={part.url} />;
    case "data":
      return <Data part={part} />;
    default:
      return null;
  }
}

function Data({ part }: { part: DataPart }) {
  const prompts = promptsOf(part);
  if (prompts.length > 0) {
    return (
      <ul aria-label="Messages to send" className="flex flex-wrap gap-2 text-sm text-soft">
        {prompts.map((text) => (
          <li key={text} className="rounded-md border border-line px-2 py-0.5" dir="auto">
            <Words text={text} />
          </li>
        ))}
      </ul>
    );
  }
  const hint = namedLook(part.name);
  return (
    <div className="flex min-w-0 flex-col gap-1">
      {hint === undefined && (
        <p className="text-sm font-medium text-soft [overflow-wrap:anywhere]">
          <Words text={part.name} />
        </p>
      )}
      {lookOf(part.data, hint) === "nothing" ? <p className="text-sm text-soft">empty</p> : <Value value={part.data} hint={hint} />}
    </div>
  );
}
