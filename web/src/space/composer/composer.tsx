// Where a message is written. Ctrl+Enter or Enter sends, as the settings say; "@"
// opens the members; files come by button, drop and paste.
import { Paperclip, SendHorizontal, X } from "lucide-react";
import { type KeyboardEvent, type RefObject, useEffect, useId, useLayoutEffect, useRef, useState } from "react";
import { byteLength, type Space } from "@shoal-dev/client";
import { useConsole } from "@/app/console";
import { sendKeyWords, sends } from "@/app/send-key";
import { useSettings } from "@/app/settings";
import { runShortcut } from "@/app/shortcuts";
import { Button, IconButton } from "@/ui/button";
import { newKey } from "../idempotency";
import { replyTo, useReplyTo } from "../replying";
import { Quote } from "../timeline/quote";
import { Addressees } from "./addressees";
import { AttachmentList } from "./attachment-list";
import type { Attachments } from "./attachments";
import { draft, keepDraft } from "./draft";
import { MentionMenu, optionId } from "./mention-menu";
import { mentionedIds } from "./mentions";
import { useGivenFocus } from "./use-given-focus";
import { useMentionMenu } from "./use-mention-menu";
import { useMentionable } from "./use-mentionable";
import { useOutbox } from "./use-outbox";

/** The server's limit for one message, in bytes. */
const maxText = 256 * 1024;
const lines = 8;

/** With `focus` it takes the focus when it appears, unless the reader goes from space to space by keys. */
export function Composer({ space, attachments, focus = false }: { space: Space; attachments: Attachments; focus?: boolean }) {
  const { session, actor } = useConsole();
  const { sendKey } = useSettings();
  const [text, setText] = useState(() => draft(session, actor, space.id));
  const [caret, setCaret] = useState(0);
  const field = useRef<HTMLTextAreaElement>(null);
  const chooser = useRef<HTMLInputElement>(null);
  const wantedCaret = useRef<number | undefined>(undefined);
  const id = useId();
  const outbox = useOutbox();
  const replies = useReplyTo(space.id);
  useEffect(() => {
    if (replies !== undefined) field.current?.focus();
  }, [replies]);
  const { isGiven, claim } = useGivenFocus(field, focus);

  const members = useMentionable(space, text);
  const put = (next: string, at: number) => {
    wantedCaret.current = at;
    setText(next);
    setCaret(at);
  };
  const menu = useMentionMenu(text, caret, members, actor, put);
  useLayoutEffect(() => {
    grow(field.current);
    if (wantedCaret.current === undefined) return;
    field.current?.setSelectionRange(wantedCaret.current, wantedCaret.current);
    wantedCaret.current = undefined;
  }, [text]);
  const saving = useRef(Promise.resolve());
  useDraft(session, actor, space.id, text, saving);

  const tooLong = text.length > maxText / 4 && byteLength(text) > maxText;
  const uploading = attachments.list.some((a) => a.sent === null && a.problem === null);
  const lost = attachments.list.some((a) => a.problem !== null);
  const empty = text.trim() === "" && !attachments.list.some((a) => a.sent !== null);
  const held = empty || tooLong || uploading || lost;
  const send = () => {
    if (held) return;
    const words = text.trim();
    saving.current = outbox.add({ key: newKey(), space: space.id, text: words, mentions: mentionedIds(words, members), files: attachments.take(), afterSeq: space.lastSeq, replyTo: replies, refused: null });
    replyTo(space.id, undefined);
    put("", 0);
    field.current?.focus();
  };
  const key = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (event.nativeEvent.isComposing) return;
    if (menu.key(event)) {
      event.preventDefault();
      event.stopPropagation();
    } else if (event.key === "Escape") {
      event.stopPropagation();
      const unused = isGiven();
      field.current?.blur();
      if (unused) runShortcut("Escape");
    } else if (sends(event, sendKey)) {
      event.preventDefault();
      send();
    }
  };
  return (
    <form
      aria-label={`Write in ${space.name}`}
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
      className="w-full max-w-read px-2 pb-2 sm:px-5 sm:pb-3"
    >
      <div className="relative rounded-xl border border-edge bg-surface focus-within:outline-2 focus-within:-outline-offset-1 focus-within:outline-accent">
        {menu.offered.length > 0 && <MentionMenu id={`${id}-menu`} members={menu.offered} chosen={menu.chosen} pick={menu.pick} />}
        {replies !== undefined && (
          <div className="flex items-center gap-1 px-3 pt-2">
            <div className="min-w-0 flex-1">
              <Quote id={replies} />
            </div>
            <IconButton label="Cancel reply" onClick={() => replyTo(space.id, undefined)}>
              <X aria-hidden className="size-4" />
            </IconButton>
          </div>
        )}
        <AttachmentList attachments={attachments} />
        <textarea
          ref={field}
          data-composer
          rows={1}
          value={text}
          aria-label="Message"
          aria-describedby={`${id}-about`}
          aria-autocomplete="list"
          aria-haspopup="listbox"
          aria-controls={menu.offered.length > 0 ? `${id}-menu` : undefined}
          aria-activedescendant={menu.offered.length > 0 ? optionId(`${id}-menu`, menu.chosen) : undefined}
          placeholder={`Write to ${space.name}`}
          onBlur={claim}
          onPointerDown={claim}
          onChange={(event) => {
            claim();
            setText(event.target.value);
            setCaret(event.target.selectionStart);
          }}
          onSelect={(event) => setCaret(event.currentTarget.selectionStart)}
          onKeyDown={key}
          onPaste={(event) => {
            if (event.clipboardData.files.length === 0) return;
            event.preventDefault();
            attachments.add(event.clipboardData.files);
          }}
          className="block w-full resize-none bg-transparent px-3 pt-2.5 pb-1 outline-none touch:min-h-11 touch:text-base placeholder:text-soft"
        />
        <div className="flex items-end justify-between gap-2 px-2 pb-1.5">
          <div id={`${id}-about`} className="min-w-0 self-center pl-1">
            <Addressees space={space} text={text} members={members} />
            <p className="text-xs text-soft touch:hidden">{sendKeyWords[sendKey]}</p>
          </div>
          <div className="flex shrink-0 items-center gap-1">
            <FileButton chooser={chooser} attachments={attachments} />
            <Button type="submit" tone="primary" small disabled={held} title={sendKeyWords[sendKey]} icon={<SendHorizontal aria-hidden className="size-4" />}>
              Send
            </Button>
          </div>
        </div>
      </div>
      {(tooLong || lost) && (
        <p role="alert" className="pt-1 text-sm text-bad">
          {tooLong ? "The message exceeds the limit of 256 KiB. Send it as a file or split it." : "A file was not uploaded. Remove it or upload it again, then send."}
        </p>
      )}
    </form>
  );
}

function FileButton({ chooser, attachments }: { chooser: RefObject<HTMLInputElement | null>; attachments: Attachments }) {
  return (
    <>
      <IconButton label="Add files" onClick={() => chooser.current?.click()}>
        <Paperclip aria-hidden className="size-4" />
      </IconButton>
      <input
        ref={chooser}
        type="file"
        multiple
        hidden
        onChange={(event) => {
          attachments.add(event.target.files ?? []);
          event.target.value = "";
        }}
      />
    </>
  );
}

// As high as its lines, up to eight of them.
function grow(field: HTMLTextAreaElement | null): void {
  if (field === null) return;
  field.style.height = "auto";
  const line = parseFloat(getComputedStyle(field).lineHeight) || 22;
  field.style.height = `${Math.min(field.scrollHeight, line * lines + 16)}px`;
  field.style.overflowY = field.scrollHeight > line * lines + 16 ? "auto" : "hidden";
}

// Stores what is being written, also when the page goes away. The draft of a message that
// was sent remains until the outbox has stored the message.
function useDraft(session: string, actor: string | null, space: string, text: string, saving: RefObject<Promise<void>>): void {
  const latest = useRef(text);
  latest.current = text;
  useEffect(() => {
    const keep = () => keepDraft(session, actor, space, latest.current);
    const timer = setTimeout(() => void saving.current.then(keep), 300);
    return () => clearTimeout(timer);
  }, [session, actor, space, text, saving]);
  useEffect(() => {
    const keep = () => {
      if (latest.current !== "") keepDraft(session, actor, space, latest.current);
    };
    window.addEventListener("pagehide", keep);
    document.addEventListener("visibilitychange", keep);
    return () => {
      window.removeEventListener("pagehide", keep);
      document.removeEventListener("visibilitychange", keep);
      const last = latest.current;
      void saving.current.then(() => keepDraft(session, actor, space, last));
    };
  }, [session, actor, space, saving]);
}
