// Finds messages by their words. What is searched for is in the address, so a
// search can be linked to and gone back to.
import { useInfiniteQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { Search } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { api, data } from "@/api/client";
import type { Hit } from "@/api/shapes";
import { useConsole } from "@/app/console";
import { useShortcut } from "@/app/shortcuts";
import { useEntities, useSpaces } from "@/live/hooks";
import { Button } from "@/ui/button";
import { Page } from "@/ui/page";
import { Empty, Failed, Loading } from "@/ui/shown";
import { Hits } from "./hits";
import { named, parseQuery, type Query } from "./query";
import { forgetSearches, recentSearches, rememberSearch } from "./recent";

/** The page. */
export function SearchPage() {
  const { session } = useConsole();
  const typed = useSearch({ from: "/s/$session/search" }).q ?? "";
  const go = useNavigate();
  const search = (q: string) => void go({ to: "/s/$session/search", params: { session }, search: { q: q === "" ? undefined : q }, replace: true });
  const query = parseQuery(typed);
  return (
    <Page title="Search">
      <div className="mx-auto flex max-w-3xl flex-col gap-5 px-5 py-5">
        <SearchBox key={session} typed={typed} onSearch={search} />
        {query.words === "" ? <Start more={typed !== ""} onSearch={search} /> : <Found typed={typed} query={query} />}
      </div>
    </Page>
  );
}

// What is typed is searched for a moment after the last key.
function SearchBox({ typed, onSearch }: { typed: string; onSearch: (q: string) => void }) {
  const [text, setText] = useState(typed);
  const box = useRef<HTMLInputElement>(null);
  const sent = useRef(typed);
  useEffect(() => box.current?.focus(), []);
  useShortcut("/", "Go to search", () => box.current?.select());
  useEffect(() => {
    if (typed === sent.current) return;
    sent.current = typed; // the address has changed by itself: back, or a recent search
    setText(typed);
  }, [typed]);
  useEffect(() => {
    if (text === sent.current) return;
    const timer = setTimeout(() => {
      sent.current = text;
      onSearch(text);
    }, 250);
    return () => clearTimeout(timer);
  }, [text, onSearch]);
  return (
    <form
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        sent.current = text;
        rememberSearch(text);
        onSearch(text);
      }}
      className="flex flex-col gap-1"
    >
      <label htmlFor="search" className="sr-only">
        Words to search for
      </label>
      <div className="relative">
        <Search aria-hidden className="pointer-events-none absolute top-1/2 left-3 size-4 -translate-y-1/2 text-soft" />
        <input
          ref={box}
          id="search"
          type="search"
          value={text}
          onChange={(e) => setText(e.target.value)}
          autoComplete="off"
          spellCheck={false}
          aria-describedby="search-hint"
          placeholder="Search messages"
          className="h-11 w-full rounded-lg border border-edge bg-surface pr-3 pl-10 text-ink placeholder:text-soft"
        />
      </div>
      <p id="search-hint" className="text-sm text-soft">
        All words count, the last one also as a beginning. Narrow it down with <code>in:launch</code>, <code>kind:human</code> or <code>kind:agent</code>, <code>from:ann</code>.
      </p>
    </form>
  );
}

function Start({ more, onSearch }: { more: boolean; onSearch: (q: string) => void }) {
  const [recent, setRecent] = useState(recentSearches);
  if (recent.length === 0 || more) {
    return (
      <Empty title={more ? "Add a word" : "Search what was said"} command="shoal tail SPACE">
        {more ? "A filter alone finds nothing; name at least one word that the message holds." : "In all spaces that you are in. The command line shows what is being said:"}
      </Empty>
    );
  }
  return (
    <section aria-labelledby="recent">
      <div className="mb-2 flex items-center justify-between">
        <h2 id="recent" className="font-semibold">
          Recent searches
        </h2>
        <Button
          small
          tone="quiet"
          onClick={() => {
            forgetSearches();
            setRecent([]);
          }}
        >
          Forget them
        </Button>
      </div>
      <ul className="divide-y divide-line overflow-hidden rounded-lg border border-line bg-surface">
        {recent.map((q) => (
          <li key={q}>
            <button type="button" onClick={() => onSearch(q)} className="block min-h-10 w-full truncate px-4 py-2 text-left hover:bg-sunken">
              {q}
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

// The server filters by space and kind; the sender is looked for in what it answers.
const pagesForSender = 10;

function Found({ typed, query }: { typed: string; query: Query }) {
  const { session, actor } = useConsole();
  const spaces = useSpaces();
  const entities = useEntities();
  const space = query.in === undefined ? undefined : named(spaces, query.in);
  const sender = query.from === undefined ? undefined : named(entities, query.from);
  const found = useInfiniteQuery({
    queryKey: [session, actor, "search", query.words, space?.id ?? null, query.kind ?? null],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam }) =>
      data(api.GET("/v1/sessions/{session}/search", { params: { path: { session }, query: { q: query.words, space: space?.id, kind: query.kind, cursor: pageParam, limit: 50 } } })),
    getNextPageParam: (page) => page.nextCursor ?? undefined,
    enabled: query.in === undefined || space !== undefined,
    // While somebody types on, the hits of the letters before stay.
    placeholderData: (before) => before,
  });
  const all: readonly Hit[] = found.data?.pages.flatMap((p) => p.items) ?? [];
  const hits = sender === undefined ? all : all.filter((h) => h.message.entityId === sender.id);
  const looking = sender !== undefined && !found.isPlaceholderData && hits.length < 20 && found.hasNextPage && (found.data?.pages.length ?? 0) < pagesForSender;
  const { fetchNextPage, isFetchingNextPage } = found;
  useEffect(() => {
    if (looking && !isFetchingNextPage) void fetchNextPage();
  }, [looking, isFetchingNextPage, fetchNextPage]);

  if (query.in !== undefined && space === undefined) return <Empty title={`You are in no space called ${query.in}`}>Name a space by its id or the beginning of its name.</Empty>;
  if (query.from !== undefined && sender === undefined) return <Empty title={`Nobody here is called ${query.from}`}>Name a sender by the id or the beginning of the name.</Empty>;
  if (found.isPending) return <Loading label="Searching" />;
  if (found.isError) return <Failed error={found.error} retry={() => void found.refetch()} />;
  const count = `${hits.length}${found.hasNextPage ? " or more" : ""} ${hits.length === 1 && !found.hasNextPage ? "message" : "messages"}`;
  return (
    <>
      <p role="status" className="text-sm text-soft">
        {hits.length === 0 ? (looking ? "Looking further back …" : "Nothing found") : count}
        {space !== undefined && ` in ${space.name}`}
        {sender !== undefined && ` from ${sender.name}`}
        {query.unknown.length > 0 && `. ${query.unknown.join(", ")} was left out: a kind is human or agent`}
      </p>
      {hits.length === 0 && !looking && <Empty title="Nothing found">No message of your spaces holds all of these words. Try fewer words, or the beginning of one.</Empty>}
      <Hits hits={hits} onFollow={() => rememberSearch(typed)} />
      {sender !== undefined && found.hasNextPage && !looking && (
        <p className="text-sm text-soft">The sender was looked for in the newest {all.length} hits of these words. More may be further back.</p>
      )}
      {found.hasNextPage && !looking && (
        <div className="text-center">
          <Button busy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            Show more
          </Button>
        </div>
      )}
    </>
  );
}
