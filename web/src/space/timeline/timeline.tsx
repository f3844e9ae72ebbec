// The timeline of one space. It opens at the first unread message, else at the newest, and
// loads others on demand. At the end the newest stays on the screen; further up nothing
// moves by itself.
import { memo, useCallback, useLayoutEffect, useMemo, useRef, useState } from "react";
import type { LiveSpace, Run } from "@shoal-dev/client";
import { useConsole } from "@/app/console";
import { useLive } from "@/live/hooks";
import { unseen } from "@shoal-dev/client/live";
import { useOutgoing } from "../composer/use-outbox";
import { useSpaceRights } from "../moderates";
import type { RunsHere } from "../runs-here";
import { type Entry, entries } from "./entries";
import { MessageView } from "./message";
import { OutgoingView } from "./outgoing";
import { loadPage } from "./pages";
import { reported } from "./reported";
import { DayRow, MoreRow, UnreadRow } from "./rows";
import { useBottom } from "./use-bottom";
import { useDivider } from "./use-divider";
import { useJump } from "./use-jump";
import { useMessageKeys } from "./use-message-keys";
import { UnreadBars } from "./unread-bars";
import { newest, range, settled, type View, withNewer, withOlder } from "./view";

interface Props {
  readonly live: LiveSpace;
  readonly runs: RunsHere;
  /** The message that the address asks for. */
  readonly seq: number | undefined;
}

const noRuns: readonly Run[] = [];

export const Timeline = memo(function Timeline({ live, runs, seq }: Props) {
  const { session, actor } = useConsole();
  const store = useLive();
  const space = live.space;
  const { moderates } = useSpaceRights(space);
  const messages = useMemo(() => live.order.flatMap((id) => store.live.messages.get(id) ?? []), [store, live.order]);
  const seqs = useMemo(() => messages.map((m) => m.seq), [messages]);

  const scroller = useRef<HTMLDivElement>(null);
  const column = useRef<HTMLDivElement>(null);
  const bottom = useBottom(scroller, column);
  const [wished, setView] = useState<View>(() => newest(seqs));
  const view = settled(seqs, wished, bottom.there);
  if (view !== wished) setView(view);

  const [start, end] = range(seqs, view);
  const divider = useDivider(space);
  const rows = useMemo(() => entries(messages.slice(start, end), divider), [messages, start, end, divider]);
  const outgoing = useOutgoing(space.id);
  const onWay = useMemo(() => unseen(outgoing, actor, messages), [outgoing, actor, messages]);

  const atEnd = view.to === null && bottom.there;
  const showEnd = useCallback(() => {
    setView(newest(seqs));
    bottom.go();
    requestAnimationFrame(bottom.go);
  }, [seqs, bottom.go]);
  const { marked, jump, stay } = useJump({ space, seq, setView, column, toEnd: showEnd });
  const toEnd = useCallback(() => {
    stay();
    showEnd();
  }, [stay, showEnd]);
  const keys = useMessageKeys(column, toEnd);
  const toUnread = useCallback(() => jump(space.firstUnreadSeq, "unread"), [jump, space.firstUnreadSeq]);
  useLayoutEffect(() => {
    if (onWay.length > 0) toEnd(); // The sender wants to see the message.
    // Only what was sent just now moves the reader.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [onWay.length]);

  const { notices, said, failed } = useMemo(() => {
    const shown = messages.slice(start, end);
    const notices = reported(runs.failed, shown);
    const said: ReadonlySet<string | null> = new Set([...notices.values()].map((r) => r.id));
    return { notices, said, failed: withoutWords(runs.failed, new Set([...said, ...shown.map((m) => m.runId)])) };
  }, [runs.failed, messages, start, end]);
  const older = () => {
    if (start > 0) return void setView((v) => withOlder(seqs, v));
    // Once they are here the row is asked again, and mounts them.
    return loadPage(store, session, space.id, { before: seqs[0] ?? 1 }).then(() => undefined);
  };
  const draw = (row: Entry, i: number) => {
    switch (row.kind) {
      case "day":
        return <DayRow key={row.key} at={row.at} />;
      case "unread":
        return <UnreadRow key={row.key} at={row.at} />;
      case "hole":
        return <MoreRow key={row.key} what="Messages" scroller={scroller} again={rows} load={(above) => loadPage(store, session, space.id, above ? { before: row.before } : { after: row.after }).then(() => undefined)} />;
      case "message":
        return <MessageView key={row.key} id={row.id} joined={row.joined && !showsFailure(rows[i - 1], failed)} marked={row.id === marked} moderates={moderates} entry={row.id === (keys.current ?? messages[end - 1]?.id)} failed={failed.get(row.id) ?? noRuns} about={notices.get(row.id)} said={said.has(store.live.messages.get(row.id)?.runId ?? null)} />;
    }
  };
  return (
    <div className="relative flex min-h-0 flex-1 flex-col">
      <div ref={scroller} className="flex min-h-0 flex-1 flex-col-reverse overflow-x-hidden overflow-y-auto overscroll-contain" data-timeline>
        <div ref={column} role="log" aria-live="off" aria-label={`Messages in ${space.name}`} onFocus={keys.onFocus} className="w-full max-w-read px-2 pt-4 pb-2">
          <h2 className="sr-only">Messages</h2>
          {(start > 0 || (seqs[0] ?? 1) > 1) && <MoreRow what="Older messages" scroller={scroller} again={rows} load={older} />}
          {rows.map(draw)}
          {view.to !== null && <MoreRow what="Newer messages" scroller={scroller} again={rows} load={() => void setView((v) => withNewer(seqs, v))} />}
          {onWay.map((o) => (
            <OutgoingView key={o.key} outgoing={o} />
          ))}
          {messages.length === 0 && onWay.length === 0 && <p className="px-3 py-10 text-center text-balance text-soft">Nothing has been said here yet. The first message is yours.</p>}
        </div>
      </div>
      <UnreadBars space={space} messages={messages} scroller={scroller} atEnd={atEnd} toEnd={toEnd} toUnread={toUnread} />
    </div>
  );
});

// Whether a row ends with word of a failed run: what follows does not join it.
function showsFailure(row: Entry | undefined, failed: RunsHere["failed"]): boolean {
  return row?.kind === "message" && (failed.get(row.id)?.length ?? 0) > 0;
}

// Failed runs that posted a message show the failure there; of others the server may have said it.
function withoutWords(failed: RunsHere["failed"], said: ReadonlySet<string | null>): RunsHere["failed"] {
  return new Map([...failed].map(([message, runs]) => [message, runs.filter((r) => !said.has(r.id))]));
}
