// The inbox of pending actions: the list at the left, one action at the right; on a phone
// one at a time.
import { Link, useSearch } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import type { PendingAction } from "@shoal-dev/client";
import { useConsole } from "@/app/console";
import { useFreshActs } from "@/app/fresh-acts";
import { usePending, useSpaces } from "@/live/hooks";
import { useAnswerable } from "@/parts/answer/answerable";
import { label } from "@/parts/renderers/words";
import { Button } from "@/ui/button";
import { classes } from "@/ui/classes";
import { Page } from "@/ui/page";
import { Empty, Failed, Loading } from "@/ui/placeholder";
import { Bulk } from "./bulk";
import { Detail } from "./detail";
import { alike, inOrder, isMine } from "./inbox";
import { useSettled } from "./queries";
import { Remembered } from "./remembered";
import { Row } from "./row";

type Show = "anyone" | "done" | "remembered" | undefined;

const none: ReadonlySet<string> = new Set();

export function ApprovalsPage() {
  useFreshActs();
  const { show, pending: asked } = useSearch({ from: "/s/$session/approvals" });
  const { me, admin, actor } = useConsole();
  const all = usePending();
  const spaces = useSpaces();
  const answerable = useAnswerable();
  const settled = useSettled(show === "done" || (asked !== undefined && !all.some((p) => p.id === asked)));
  const done = useMemo(() => newest(settled.data?.pages.flatMap((p) => p.items) ?? [], all), [settled.data, all]);
  const open = useMemo(() => inOrder(all), [all]);
  const mine = useMemo(() => open.filter((p) => isMine(p, actor, spaces, me.role === "entity" ? (answerable.data ?? none) : undefined)), [open, actor, spaces, me.role, answerable.data]);
  const list = show === "done" ? done : show === "anyone" ? open : mine;
  const first = useFirst(list, show);
  const chosen = all.find((p) => p.id === (asked ?? first)) ?? done.find((p) => p.id === (asked ?? first));
  if (show === "remembered") {
    return (
      <Page title="Approvals" about="Decisions that apply to later calls.">
        <div className="h-full overflow-y-auto">
          <Views show={show} mine={mine.length} anyone={admin ? open.length : undefined} />
          <Remembered />
        </div>
      </Page>
    );
  }
  return (
    <Page title="Approvals" about={<span className={classes(asked !== undefined && "max-md:hidden")}>What agents are waiting for: permissions, questions, and calls for a person to carry out.</span>}>
      <div className="flex h-full min-h-0">
        <div className={classes("h-full w-full shrink-0 flex-col overflow-y-auto border-line bg-surface md:flex md:w-80 md:border-r lg:w-96", asked === undefined ? "flex" : "hidden")}>
          <Views show={show} mine={mine.length} anyone={admin ? open.length : undefined} />
          <List list={list} show={show} selected={chosen?.id} asked={asked !== undefined} others={open.length - mine.length} settled={settled} answerable={answerable} />
        </div>
        <div className={classes("h-full min-w-0 flex-1 overflow-y-auto md:block", asked === undefined && "hidden")}>
          {chosen !== undefined ? (
            <Detail key={chosen.id} pending={chosen} mine={mine.includes(chosen)} show={show} next={mine.find((p) => p.id !== chosen.id)} />
          ) : asked !== undefined ? (
            <Gone show={show} loading={settled.isPending} />
          ) : null}
        </div>
      </div>
    </Page>
  );
}

// The first action is shown beside the list and stays there while others arrive: what a
// person is about to press must not change.
function useFirst(list: readonly PendingAction[], show: Show): string | undefined {
  const [held, hold] = useState<{ show: Show; id: string }>();
  const id = held !== undefined && held.show === show ? held.id : list[0]?.id;
  if (id !== undefined && (held?.id !== id || held.show !== show)) hold({ show, id });
  return id;
}

// Actions that were settled while the page is open are known before the server is asked
// again.
function newest(pages: readonly PendingAction[], live: readonly PendingAction[]): PendingAction[] {
  const byId = new Map(pages.map((p) => [p.id, p]));
  for (const p of live) if (p.status !== "open") byId.set(p.id, p);
  const when = (p: PendingAction) => p.answeredAt ?? p.expiresAt ?? p.createdAt;
  return [...byId.values()].sort((a, b) => (when(a) < when(b) ? 1 : when(a) > when(b) ? -1 : a.id < b.id ? 1 : -1));
}

function Views({ show, mine, anyone }: { show: Show; mine: number; anyone: number | undefined }) {
  const { session } = useConsole();
  const views: readonly (readonly [Show, string, number | undefined])[] = [[undefined, "Mine", mine], ...(anyone === undefined ? [] : [["anyone", "Anyone", anyone] as const]), ["done", "Done", undefined], ["remembered", "Remembered", undefined]];
  return (
    <nav aria-label="Show" className="sticky top-0 z-10 flex flex-wrap border-b border-line bg-surface px-3 text-sm">
      {views.map(([id, word, count]) => (
        <Link
          key={word}
          to="/s/$session/approvals"
          params={{ session }}
          search={{ show: id }}
          aria-current={show === id ? "page" : undefined}
          className={classes("flex min-h-10 items-center gap-1.5 border-b-2 touch:min-h-11 px-2 -outline-offset-2", show === id ? "border-accent font-medium text-ink" : "border-transparent text-soft hover:text-ink")}
        >
          {word}
          {count !== undefined && count > 0 && <span className="rounded-full bg-sunken px-1.5 text-xs tabular-nums">{count}</span>}
        </Link>
      ))}
    </nav>
  );
}

function List({ list, show, selected, asked, others, settled, answerable }: { list: readonly PendingAction[]; show: Show; selected: string | undefined; asked: boolean; others: number; settled: ReturnType<typeof useSettled>; answerable: ReturnType<typeof useAnswerable> }) {
  const [bulk, setBulk] = useState<readonly PendingAction[]>();
  if (show === "done" && settled.isPending) return <Loading />;
  if (show === "done" && settled.isError && list.length === 0) return <Failed error={settled.error} retry={() => void settled.refetch()} />;
  // The empty state is shown only once the server has confirmed it.
  if (list.length === 0 && show !== "done") {
    if (answerable.isError) return <Failed error={answerable.error} retry={() => void answerable.refetch()} />;
    if (answerable.data === undefined || (answerable.data.size > 0 && others === 0)) return <Loading />;
  }
  if (list.length === 0) return <Nothing show={show} others={others} />;
  const groups = show === "done" ? [] : groupsOf(list);
  return (
    <>
      {groups.map((g) => (
        <div key={g[0]?.id} className="flex items-center justify-between gap-2 border-b border-line bg-sunken px-4 py-2 text-sm">
          <span className="min-w-0 truncate">
            {g.length} requests for {label(g[0]?.toolName ?? "")}
          </span>
          <Button small onClick={() => setBulk(g)}>
            Decide together…
          </Button>
        </div>
      ))}
      <ul className="divide-y divide-line border-b border-line">
        {list.map((p) => (
          <li key={p.id} className="flex">
            <Row pending={p} selected={p.id === selected ? (asked ? ("chosen" as const) : ("first" as const)) : undefined} show={show} />
          </li>
        ))}
      </ul>
      {show === "done" && settled.hasNextPage && (
        <div className="p-3 text-center">
          <Button small busy={settled.isFetchingNextPage} onClick={() => void settled.fetchNextPage()}>
            Show older
          </Button>
        </div>
      )}
      {bulk !== undefined && <Bulk group={bulk} onClose={() => setBulk(undefined)} />}
    </>
  );
}

// Two or more permission requests for one tool of one agent.
function groupsOf(list: readonly PendingAction[]): PendingAction[][] {
  const seen = new Set<string>();
  return list.flatMap((p) => {
    const group = seen.has(p.id) ? [] : alike(p, list);
    for (const g of group) seen.add(g.id);
    return group.length > 1 ? [group] : [];
  });
}

function Nothing({ show, others }: { show: Show; others: number }) {
  const { session, admin } = useConsole();
  if (show === "done") return <Empty title="Nothing answered yet">Answered requests are listed here, the newest first.</Empty>;
  return (
    <Empty
      title="Nothing is waiting for you"
      command="shoal approvals"
      action={
        admin && show === undefined && others > 0 ? (
          <Link to="/s/$session/approvals" params={{ session }} search={{ show: "anyone" }} className="text-accent underline underline-offset-2">
            {others === 1 ? "1 waiting for others" : `${others} waiting for others`}
          </Link>
        ) : undefined
      }
    >
      When an agent needs a permission, an answer or help, the request appears here.
    </Empty>
  );
}

function Gone({ show, loading }: { show: Show; loading: boolean }) {
  const { session } = useConsole();
  if (loading) return <Loading />;
  return (
    <Empty
      title="Request not found"
      action={
        <Link to="/s/$session/approvals" params={{ session }} search={{ show }} className="text-accent underline underline-offset-2">
          Back to the list
        </Link>
      }
    >
      It was answered or withdrawn, or it is in none of your spaces.
    </Empty>
  );
}
