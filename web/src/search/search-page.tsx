// Finds messages. The query is in the address, so that a search can be linked to and the
// back button works.
import { useInfiniteQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { Search } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { api } from "@/api/client";
import type { Hit } from "@shoal-dev/client";
import { useConsole } from "@/app/console";
import { useShortcut } from "@/app/shortcuts";
import { useEntities, useSpaces } from "@/live/hooks";
import { Button } from "@/ui/button";
import { classes } from "@/ui/classes";
import { Page } from "@/ui/page";
import { Empty, Failed, Loading } from "@/ui/placeholder";
import { Hits } from "./hits";
import { readQuery } from "./query";
import { forgetSearches, recentSearches, rememberSearch } from "./recent";

/** The page. */
export function SearchPage() {
  const { session } = useConsole();
  const asked = useSearch({ from: "/s/$session/search" });
  const typed = asked.q ?? "";
  const go = useNavigate();
  const search = (q: string, sort = asked.sort) => void go({ to: "/s/$session/search", params: { session }, search: { q: q === "" ? undefined : q, sort }, replace: true });
  return (
    <Page title="Search">
      <div className="flex max-w-read flex-col gap-5 p-5">
        <SearchBox key={session} typed={typed} onSearch={search} />
        {typed.trim() === "" ? <Start onSearch={search} /> : <Found typed={typed} best={asked.sort === "relevance"} onSort={(best) => search(typed, best ? "relevance" : undefined)} />}
      </div>
    </Page>
  );
}

// A search starts a moment after the last key press.
function SearchBox({ typed, onSearch }: { typed: string; onSearch: (q: string) => void }) {
  const [text, setText] = useState(typed);
  const box = useRef<HTMLInputElement>(null);
  const sent = useRef(typed);
  useEffect(() => box.current?.focus(), []);
  useShortcut("/", "Go to search", () => box.current?.select());
  useEffect(() => {
    if (typed === sent.current) return;
    sent.current = typed; // the address changed: back, or a recent search
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
      className="flex flex-col gap-2"
    >
      <label htmlFor="search" className="sr-only">
        Search for
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
        All words must occur; the last one may be incomplete. <code>"quotes"</code> keep words together, <code>-word</code> excludes a word. Filters: <code>in:launch</code>, <code>from:ann</code>, <code>mentions:me</code>, <code>has:link</code> (file, image, link, code, tool, approval, data), <code>kind:person</code> or <code>kind:agent</code>, <code>before:2027-01-31</code>, <code>after:2027-01</code>.
      </p>
    </form>
  );
}

function Start({ onSearch }: { onSearch: (q: string) => void }) {
  const [recent, setRecent] = useState(recentSearches);
  if (recent.length === 0) {
    return (
      <Empty title="Search your messages" command="shoal search WORDS">
        Searches all spaces that you are a member of.
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
          Clear
        </Button>
      </div>
      <ul className="divide-y divide-line overflow-hidden rounded-lg border border-line bg-surface">
        {recent.map((q) => (
          <li key={q}>
            <button type="button" onClick={() => onSearch(q)} className="block min-h-10 touch:min-h-11 w-full truncate px-4 py-2 text-left hover:bg-sunken">
              {q}
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

// A page may be empty although there are more: this many are requested in a row.
const pagesInARow = 20;

function Found({ typed, best, onSort }: { typed: string; best: boolean; onSort: (best: boolean) => void }) {
  const { session, actor } = useConsole();
  const query = readQuery(typed, useSpaces(), useEntities());
  const found = useInfiniteQuery({
    queryKey: [session, actor, "search", query.q, best],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam }) =>
      api.GET("/v1/sessions/{session}/search", { params: { path: { session }, query: { q: query.q, sort: best ? "relevance" : undefined, cursor: pageParam, limit: 50 } } }),
    getNextPageParam: (page) => page.nextCursor ?? undefined,
    enabled: query.q !== "" && query.unknown === undefined,
    // While a person types, the hits of the previous query remain.
    placeholderData: (before) => before,
  });
  const hits: readonly Hit[] = found.data?.pages.flatMap((p) => p.items) ?? [];
  const looking = !found.isPlaceholderData && !found.isError && hits.length === 0 && found.hasNextPage && (found.data?.pages.length ?? 0) < pagesInARow;
  const { fetchNextPage, isFetchingNextPage } = found;
  useEffect(() => {
    if (looking && !isFetchingNextPage) void fetchNextPage();
  }, [looking, isFetchingNextPage, fetchNextPage]);

  if (query.unknown?.what === "space") return <Empty title={`No space named “${query.unknown.name}”`}>Use the id of a space that you are a member of, or the start of its name.</Empty>;
  if (query.unknown !== undefined) return <Empty title={`No participant named “${query.unknown.name}”`}>Use an id or the start of a name.</Empty>;
  if (query.q === "") return <Empty title="Incomplete filter">A filter needs a value after its colon.</Empty>;
  if (found.isError) return <Failed error={found.error} retry={() => void found.refetch()} />;
  if (found.isPending) return <Loading label="Searching" />;
  const count = `${hits.length}${found.hasNextPage ? " or more" : ""} ${hits.length === 1 && !found.hasNextPage ? "message" : "messages"}`;
  const none = hits.length === 0 && !looking;
  return (
    <>
      <div className={classes("flex items-center justify-between gap-3 text-sm text-soft", none && "sr-only")}>
        <p role="status">{hits.length > 0 ? count : looking ? "Searching older messages …" : "No results"}</p>
        {!none && (
          <Button small tone="quiet" className="-mr-3" onClick={() => onSort(!best)}>
            Sort: {best ? "best match" : "newest"}
          </Button>
        )}
      </div>
      {none && <Empty title="No results">No message in your spaces matches. Try fewer words, or the start of a word.</Empty>}
      <Hits hits={hits} together={!best} onFollow={() => rememberSearch(typed)} />
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
