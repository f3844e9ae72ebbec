// A message in one line, as what another one replies to.
import { useQuery } from "@tanstack/react-query";
import { Reply } from "lucide-react";
import { api } from "@/api/client";
import type { Message } from "@shoal-dev/client";
import { useConsole } from "@/app/console";
import { useMessage, useName } from "@/live/hooks";
import { wordsOf } from "@/parts/server-words";
import { Words } from "@/parts/words/words";

export function Quote({ id }: { id: string }) {
  const { session } = useConsole();
  const here = useMessage(id);
  const { data: fetched } = useQuery({
    queryKey: ["message", session, id],
    enabled: here === undefined,
    queryFn: () => api.GET("/v1/sessions/{session}/messages/{message}", { params: { path: { session, message: id } } }),
  });
  const message = here ?? fetched;
  const name = useName(message?.entityId ?? "");
  return (
    <p className="mb-1 flex min-w-0 items-center gap-1.5 border-l-2 border-line pl-2 text-sm text-soft">
      <Reply aria-hidden className="size-3.5 shrink-0" />
      <span className="sr-only">in reply to</span>
      {message === undefined ? (
        "a message"
      ) : (
        <>
          <span className="shrink-0 font-medium">{name}</span>
          <span className="truncate">
            <Words text={inWords(message)} />
          </span>
        </>
      )}
    </p>
  );
}

function inWords(m: Message): string {
  if (m.deletedAt !== null) return "This message was deleted.";
  const text = m.parts.map((p) => (p.type === "text" ? wordsOf(m.entityId, p.text) : p.type === "file" ? p.name : "")).join(" ");
  return text.trim().slice(0, 200) || "(no text)";
}
