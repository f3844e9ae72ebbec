// Messages that a message offers: a click sends one as the reader's own.
import { SendHorizontal } from "lucide-react";
import type { Message } from "@shoal-dev/client";
import { useConsole } from "@/app/console";
import { useSpace } from "@/live/hooks";
import { Words } from "@/parts/words/words";
import { Button } from "@/ui/button";
import { mentionedIds } from "../composer/mentions";
import { useMentionable } from "../composer/use-mentionable";
import { useOutbox } from "../composer/use-outbox";
import { newKey } from "../idempotency";
import { isMember } from "../order";

export function Prompts({ message, prompts }: { message: Message; prompts: readonly string[] }) {
  const { actor } = useConsole();
  const space = useSpace(message.spaceId)?.space;
  const outbox = useOutbox();
  const members = useMentionable(space, prompts.join("\n"));
  const writes = space !== undefined && space.status === "open" && isMember(space, actor);
  const send = (text: string) => {
    if (space === undefined) return;
    outbox.add({ key: newKey(), space: space.id, text, mentions: mentionedIds(text, members), files: [], afterSeq: space.lastSeq, refused: null });
  };
  return (
    <div role="group" aria-label="Messages to send" className="flex flex-wrap gap-2">
      {prompts.map((text) => (
        <Button key={text} disabled={!writes} className="h-auto max-w-full py-1.5 text-left whitespace-normal [overflow-wrap:anywhere]" icon={<SendHorizontal aria-hidden className="size-4 shrink-0 text-accent" />} onClick={() => send(text)}>
          <span dir="auto">
            <Words text={text} />
          </span>
        </Button>
      ))}
    </div>
  );
}
