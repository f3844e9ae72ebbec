// One space: its head, its timeline, the composer, and a panel at the side.
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { type DragEvent, type ReactNode, useEffect, useState } from "react";
import { api } from "@/api/client";
import { type LiveSpace, ShoalError } from "@shoal-dev/client";
import { useConsole } from "@/app/console";
import { useFreshActs } from "@/app/fresh-acts";
import { inBrowser } from "@/app/storage";
import { useShortcut } from "@/app/shortcuts";
import { useSpace } from "@/live/hooks";
import { classes } from "@/ui/classes";
import { Dialog } from "@/ui/dialog";
import { dialogOnDemand, onDemand } from "@/ui/on-demand";
import { Page } from "@/ui/page";
import { Empty, Failed, Loading } from "@/ui/placeholder";
import { AtWork } from "./at-work";
import { useAttachments } from "./composer/attachments";
import { Composer } from "./composer/composer";
import { keepLastSpace } from "./first-space";
import { Closed, OnlyLooking } from "./no-composer";
import { isMember } from "./order";
import { type RunsHere, useRunsHere } from "./runs-here";
import type { SpaceDialog } from "./space-dialogs";
import { back, SpaceHeader } from "./space-header";
import { Announcer } from "./timeline/announcer";
import { Timeline } from "./timeline/timeline";
import { usePanelRoom, useWide } from "./wide";

const route = getRouteApi("/s/$session/spaces/$space");

// The messages come first. In ms.
const afterwards = 2_000;

// Here and not in the shell, which has no room: everybody comes to a space.
setTimeout(() => void import("@/offline/push").then(({ register }) => register()).catch(() => undefined), afterwards);

// The conversation loads first; the panel next to it loads afterwards.
const SpacePanel = onDemand(() => import("./panel/panel").then((m) => m.SpacePanel), { loading: <Loading /> });
const SpaceDialogs = dialogOnDemand(() => import("./space-dialogs").then((m) => m.SpaceDialogs));

// Of the notifications that arrive while no page is open.
function useRenewal() {
  const { session, actor, me } = useConsole();
  useEffect(() => {
    const timer = setTimeout(() => void import("@/offline/push").then(({ renew }) => renew(session, actor, me.signInId ?? me.keyId)).catch(() => undefined), afterwards);
    return () => clearTimeout(timer);
  }, [session, actor, me]);
}

export function SpacePage() {
  const { space } = route.useParams();
  const { actor, may } = useConsole();
  useFreshActs();
  useRenewal();
  const live = useSpace(space);
  if (live === undefined) return <Unknown key={space} space={space} />;
  if (!may("see_everything") && !isMember(live.space, actor)) return <NotIn title={live.space.name} />;
  return <Known key={`${space} ${actor ?? ""}`} live={live} />;
}

// The stream has not delivered the space: it is on its way, or this reader has no access.
function Unknown({ space }: { space: string }) {
  const { session, actor } = useConsole();
  const asked = useQuery({
    queryKey: [session, actor, "space", space],
    queryFn: () => api.GET("/v1/sessions/{session}/spaces/{space}", { params: { path: { session, space } } }),
    retry: (count, error) => count < 2 && ShoalError.from(error).status === 0,
  });
  if (!asked.isError) return <Page title={asked.data?.name ?? "Space"} back={back}>{<Loading lines={6} />}</Page>;
  if (ShoalError.from(asked.error).status === 404) return <NotIn title="Space" />;
  return (
    <Page title="Space" back={back}>
      <Failed error={asked.error} retry={() => void asked.refetch()} />
    </Page>
  );
}

// The server does not reveal whether the space is missing or this reader has no access.
function NotIn({ title }: { title: string }) {
  const { session } = useConsole();
  return (
    <Page title={title} back={back}>
      <Empty
        title="Space not found"
        command="shoal spaces ls"
        action={
          <Link to="/s/$session/spaces" params={{ session }} className="inline-flex min-h-9 touch:min-h-11 items-center text-accent underline underline-offset-2">
            Your spaces
          </Link>
        }
      >
        It does not exist or you are not a member. Ask a member to add you.
      </Empty>
    </Page>
  );
}

function Known({ live }: { live: LiveSpace }) {
  const space = live.space;
  const { session, actor, may } = useConsole();
  const { seq } = route.useSearch();
  const runs = useRunsHere(space.id);
  const [dialog, ask] = useState<SpaceDialog>();
  const panel = usePanel();
  const attachments = useAttachments(session);
  useEffect(() => keepLastSpace(session, actor, space.id), [session, actor, space.id]);
  const writes = space.status === "open" && isMember(space, actor) && may("post");
  return (
    <>
      <main id="main" tabIndex={-1} className="flex h-full min-w-0 flex-1 flex-col overflow-hidden focus-visible:-outline-offset-2">
        <EscapeGoesBack space={space.id} seq={seq} />
        <SpaceHeader space={space} panel={panel.open} togglePanel={panel.toggle} ask={ask} />
        <Drop add={writes ? attachments.add : undefined}>
          <Timeline live={live} runs={runs} seq={seq} />
          <AtWork live={live} runs={runs.underWay} />
          {writes ? <Composer space={space} attachments={attachments} focus={seq === undefined} /> : space.status === "closed" ? <Closed /> : <OnlyLooking space={space} />}
        </Drop>
      </main>
      <Side live={live} runs={runs} ask={ask} panel={panel} />
      {dialog !== undefined && <SpaceDialogs space={space} shown={dialog} onClose={() => ask(undefined)} />}
      <Announcer space={space.id} />
    </>
  );
}

// Renders nothing. It comes before the timeline, which uses Escape while something is unread.
function EscapeGoesBack({ space, seq }: { space: string; seq: number | undefined }) {
  const { session } = useConsole();
  const go = useNavigate();
  const wide = useWide();
  useShortcut("Escape", seq === undefined ? "Back to all spaces" : "Back to the newest message", () => {
    if (seq !== undefined) void go({ to: "/s/$session/spaces/$space", params: { session, space } });
    else if (!wide) void go({ to: "/s/$session/spaces", params: { session } });
  });
  return null;
}

interface Panel {
  readonly open: boolean;
  readonly room: boolean;
  readonly toggle: () => void;
}

const panelWish = "shoal.panel";

// On wide screens the panel is next to the space, and its state is remembered; else it
// is a sheet over it.
function usePanel(): Panel {
  const room = usePanelRoom();
  const [beside, setBeside] = useState(() => inBrowser.getItem(panelWish) !== "closed");
  const [over, setOver] = useState(false);
  const toggle = () => {
    if (!room) return setOver(!over);
    inBrowser.setItem(panelWish, beside ? "closed" : "open");
    setBeside(!beside);
  };
  useShortcut(".", "Show or hide panel", toggle);
  return { open: room ? beside : over, room, toggle };
}

function Side({ live, runs, ask, panel }: { live: LiveSpace; runs: RunsHere; ask: (dialog: SpaceDialog) => void; panel: Panel }) {
  if (!panel.open) return null;
  if (!panel.room) {
    return (
      <Dialog open onClose={panel.toggle} title={live.space.name}>
        <div className="-mx-5 -my-4 h-[70dvh]">
          <SpacePanel live={live} runs={runs} ask={ask} />
        </div>
      </Dialog>
    );
  }
  return (
    <aside aria-label="About this space" className="w-80 shrink-0 border-l border-line bg-surface">
      <SpacePanel live={live} runs={runs} ask={ask} tall />
    </aside>
  );
}

// Takes files that are dropped anywhere on the conversation.
function Drop({ add, children }: { add: ((files: Iterable<File>) => void) | undefined; children: ReactNode }) {
  const [over, setOver] = useState(false);
  const files = (event: DragEvent) => add !== undefined && event.dataTransfer.types.includes("Files");
  return (
    <div
      className={classes("relative flex min-h-0 flex-1 flex-col", over && "outline-2 -outline-offset-4 outline-accent outline-dashed")}
      onDragOver={(event) => {
        if (!files(event)) return;
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        setOver(false);
        if (!files(event)) return;
        event.preventDefault();
        add?.(event.dataTransfer.files);
      }}
    >
      {children}
    </div>
  );
}
