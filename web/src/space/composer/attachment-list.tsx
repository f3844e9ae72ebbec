// The files that go with the next message.
import { Paperclip, RotateCw, X } from "lucide-react";
import { IconButton } from "@/ui/button";
import { type Attachment, type Attachments, maxFile } from "./attachments";

export function AttachmentList({ attachments }: { attachments: Attachments }) {
  if (attachments.list.length === 0) return null;
  return (
    <ul aria-label="Files to send" className="flex flex-wrap gap-2 px-2 pt-2">
      {attachments.list.map((a) => (
        <li key={a.key} className="flex max-w-full items-center gap-2 rounded-md border border-line bg-ground py-1 pr-1 pl-2 text-sm">
          <Paperclip aria-hidden className="size-4 shrink-0 text-soft" />
          <span className="min-w-0">
            <span className="block max-w-60 truncate">{a.name}</span>
            <State attachment={a} />
          </span>
          {a.problem !== null && a.size <= maxFile && (
            <IconButton label={`Upload ${a.name} again`} onClick={() => attachments.retry(a.key)}>
              <RotateCw aria-hidden className="size-4" />
            </IconButton>
          )}
          <IconButton label={`Remove ${a.name}`} onClick={() => attachments.remove(a.key)}>
            <X aria-hidden className="size-4" />
          </IconButton>
        </li>
      ))}
    </ul>
  );
}

function State({ attachment: a }: { attachment: Attachment }) {
  if (a.problem !== null) return <span className="block max-w-72 text-xs text-bad">{a.problem}</span>;
  if (a.sent === null) return <progress aria-label={`Uploading ${a.name}`} value={a.progress} max={1} className="block h-1.5 w-32" />;
  return <span className="block text-xs text-soft">{bytes(a.size)}</span>;
}

/** A size as people say it. */
export function bytes(n: number): string {
  if (n < 1000) return `${n} bytes`;
  return n < 1_000_000 ? `${Math.round(n / 1000)} KB` : `${(n / 1_000_000).toFixed(1)} MB`;
}
