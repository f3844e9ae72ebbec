// What one can do with a message: it shows while the message is pointed at or selected, by
// key or finger.
import { useNavigate } from "@tanstack/react-router";
import { CheckCheck, Copy, Ellipsis, History, Link2, MailMinus, Pencil, Play, Reply, SmilePlus, Trash2 } from "lucide-react";
import { useState } from "react";
import type { Message } from "@shoal-dev/client";
import { useConsole } from "@/app/console";
import { useEntity, useLive } from "@/live/hooks";
import { IconButton } from "@/ui/button";
import { Menu, type MenuItem } from "@/ui/menu";
import { notify, notifyError } from "@/ui/notice";
import { dialogOnDemand } from "@/ui/on-demand";
import { isMember } from "../order";
import { replyTo } from "../replying";
import { markUnread } from "./marked-unread";
import { offered, useReact } from "./reactions";

const DeleteMessage = dialogOnDemand(() => import("./delete-message").then((m) => m.DeleteMessage));
const MessageReceipts = dialogOnDemand(() => import("./message-receipts").then((m) => m.MessageReceipts));
const MessageHistory = dialogOnDemand(() => import("./message-history").then((m) => m.MessageHistory));

// A message of one line is as high as its actions.
const small = "size-6! touch:size-11!";

type Dialog = "delete" | "history" | "receipts";

/** The buttons and the menu of a message. */
export function MessageActions({ message, moderates, onEdit }: { message: Message; moderates: boolean; onEdit: () => void }) {
  const { actor, may } = useConsole();
  const [choosing, setChoosing] = useState(false);
  const [dialog, setDialog] = useState<Dialog>();
  const react = useReact(message);
  const items = useItems(message, moderates, setDialog);
  if (message.status === "streaming") return null;
  const writes = actor !== null && may("post") && message.deletedAt === null;
  return (
    <>
      <div className="invisible absolute top-0 right-1 has-aria-expanded:visible z-10 flex rounded-md border border-line bg-surface shadow-sm group-focus-within/message:visible group-hover/message:visible">
        {writes && choosing && (
          <span role="group" aria-label="Choose a reaction" className="flex">
            {offered.map((emoji) => (
              <IconButton
                key={emoji}
                className={small}
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
        {writes && (
          <>
            <IconButton className={small} label="React" aria-expanded={choosing} onClick={() => setChoosing(!choosing)}>
              <SmilePlus aria-hidden className="size-4" />
            </IconButton>
            <IconButton className={small} label="Reply" data-action="reply" onClick={() => replyTo(message.spaceId, message.id)}>
              <Reply aria-hidden className="size-4" />
            </IconButton>
          </>
        )}
        {may("post") && editable(message, actor) && (
          <IconButton className={small} label="Edit message" data-action="edit" onClick={onEdit}>
            <Pencil aria-hidden className="size-4" />
          </IconButton>
        )}
        <Menu small label="More actions" action="more" icon={<Ellipsis aria-hidden className="size-4" />} items={items} />
      </div>
      {dialog === "delete" && <DeleteMessage message={message} onClose={() => setDialog(undefined)} />}
      {dialog === "receipts" && <MessageReceipts message={message} onClose={() => setDialog(undefined)} />}
      {dialog === "history" && <MessageHistory message={message} onClose={() => setDialog(undefined)} />}
    </>
  );
}

function useItems(message: Message, moderates: boolean, open: (dialog: Dialog) => void): MenuItem[] {
  const { session, actor, may } = useConsole();
  const store = useLive();
  const go = useNavigate();
  const sender = useEntity(message.entityId);
  const mine = actor !== null && (message.entityId === actor || sender?.ownerId === actor);
  const icon = "size-4";
  const items: MenuItem[] = [{ label: "Copy link", icon: <Link2 className={icon} />, run: () => void copy(linkTo(session, message), "Link") }];
  const text = textOf(message);
  if (text !== "") items.push({ label: "Copy text", icon: <Copy className={icon} />, run: () => void copy(text, "Text") });
  const { runId } = message;
  if (runId !== null) items.push({ label: "Go to run", icon: <Play className={icon} />, run: () => void go({ to: "/s/$session/runs/$run", params: { session, run: runId } }) });
  if (message.mentions.length > 0) items.push({ label: "Receipts", icon: <CheckCheck className={icon} />, run: () => open("receipts") });
  if (message.editedAt !== null && message.deletedAt === null) items.push({ label: "Earlier versions", icon: <History className={icon} />, run: () => open("history") });
  const space = store.live.spaces.get(message.spaceId)?.space;
  if (space !== undefined && isMember(space, actor)) items.push({ label: "Mark unread from here", icon: <MailMinus className={icon} />, run: () => void markUnread(store, session, message).catch(notifyError) });
  if (message.deletedAt === null && may("post") && (mine || moderates)) items.push({ label: "Delete message", icon: <Trash2 className={icon} />, danger: true, run: () => open("delete") });
  return items;
}

// Whether the acting participant may edit the message here: it is their own and has only text.
function editable(message: Message, actor: string | null): boolean {
  return actor !== null && message.entityId === actor && message.runId === null && message.deletedAt === null && message.parts.length === 1 && message.parts[0]?.type === "text";
}

/** The address of a message. */
const linkTo = (session: string, m: Message): string => `${location.origin}/s/${encodeURIComponent(session)}/spaces/${encodeURIComponent(m.spaceId)}?seq=${m.seq}`;

/** What a message says, without its cards and files. */
const textOf = (m: Message): string => m.parts.flatMap((p) => (p.type === "text" ? [p.text] : [])).join("\n\n");

async function copy(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    notify(`${what} copied.`);
  } catch {
    notify(`${what} not copied: the browser refused access to the clipboard.`, true);
  }
}
