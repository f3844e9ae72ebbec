// The files that the loaded messages of a space show, the newest first.
import { FileText } from "lucide-react";
import { useMemo } from "react";
import type { FilePart, LiveSpace, Message } from "@shoal-dev/client";
import { useLive, useName } from "@/live/hooks";
import { ownFile } from "@/parts/words/address";
import { OwnFileLink } from "@/parts/words/own-file";
import { Moment } from "@/ui/time";
import { bytes } from "../composer/attachment-list";

export function FilesTab({ live }: { live: LiveSpace }) {
  const store = useLive();
  const files = useMemo(
    () =>
      live.order
        .flatMap((id) => {
          const m = store.live.messages.get(id);
          return (m?.parts ?? []).flatMap((part) => (m !== undefined && part.type === "file" ? [{ m, part }] : []));
        })
        .reverse(),
    [store, live.order],
  );
  const first = store.live.messages.get(live.order[0] ?? "")?.seq ?? 1;
  return (
    <div className="p-2">
      <ul>
        {files.map(({ m, part }) => (
          <FileRow key={part.id} message={m} file={part} />
        ))}
      </ul>
      {files.length === 0 && <p className="p-2 text-soft">No files here. Attach one to a message to share it.</p>}
      {first > 1 && <p className="p-2 text-sm text-soft">Files of older messages are listed once those are loaded: scroll up.</p>}
    </div>
  );
}

function FileRow({ message, file }: { message: Message; file: FilePart }) {
  const name = useName(message.entityId);
  // Agents may name any address: only files of this server are links here.
  const own = ownFile(file.url);
  return (
    <li className="flex items-start gap-2 rounded-md px-2 py-1.5 hover:bg-sunken">
      <FileText aria-hidden className="mt-0.5 size-4 shrink-0 text-soft" />
      <div className="min-w-0">
        {own ? (
          <OwnFileLink url={file.url} className="block truncate font-medium text-accent underline underline-offset-2">
            {file.name}
          </OwnFileLink>
        ) : (
          <span className="block truncate font-medium">{file.name}</span>
        )}
        <p className="text-sm text-soft">
          {bytes(file.size)}, {name}, <Moment at={message.createdAt} />
        </p>
      </div>
    </li>
  );
}
