// What one can do with a message: they show while it is pointed at or chosen, also with a
// finger.
import { Pencil, Reply, SmilePlus } from "lucide-react";
import { useState } from "react";
import type { Message } from "@/client/types";
import { useConsole } from "@/app/console";
import { IconButton } from "@/ui/button";
import { replyTo } from "../replying";
import { DeleteMessage } from "./delete-message";
import { editable } from "./edit-message";
import { offered, useReact } from "./reactions";

export function MessageActions({ message, onEdit }: { message: Message; onEdit: () => void }) {
  const { actor } = useConsole();
  const [choosing, setChoosing] = useState(false);
  const react = useReact(message);
  if (message.deletedAt !== null || message.status === "streaming") return null;
  return (
    <div className="invisible absolute top-1 right-1 z-10 flex rounded-md bg-surface group-focus-within/message:visible group-hover/message:visible">
      {actor !== null && choosing && (
        <span role="group" aria-label="Choose a reaction" className="flex">
          {offered.map((emoji) => (
            <IconButton
              key={emoji}
              label={`React with ${emoji}`}
              onClick={() => {
                setChoosing(false);
                void react(emoji, false);
              }}
            >
              <span aria-hidden>{emoji}</span>
            </IconButton>
          ))}
        </span>
      )}
      {actor !== null && (
        <>
          <IconButton label="React" aria-expanded={choosing} onClick={() => setChoosing(!choosing)}>
            <SmilePlus aria-hidden className="size-4" />
          </IconButton>
          <IconButton label="Reply" onClick={() => replyTo(message.spaceId, message.id)}>
            <Reply aria-hidden className="size-4" />
          </IconButton>
        </>
      )}
      {editable(message, actor) && (
        <IconButton label="Edit message" onClick={onEdit}>
          <Pencil aria-hidden className="size-4" />
        </IconButton>
      )}
      <DeleteMessage message={message} />
    </div>
  );
}
