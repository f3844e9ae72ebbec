// Settings, one topic at a time. The address names the topic.
import { Link, useSearch } from "@tanstack/react-router";
import { type ComponentType, useEffect, useRef } from "react";
import { type Act, useConsole } from "@/app/console";
import { useFreshActs } from "@/app/fresh-acts";
import { classes } from "@/ui/classes";
import { onDemand } from "@/ui/on-demand";
import { Page } from "@/ui/page";
import { Loading } from "@/ui/placeholder";
import { Appearance } from "./appearance";
import { Browser } from "./browser";
import { Keys } from "./keys";
import { Members } from "./members";
import { Profile } from "./profile";
import { Server } from "./server";
import { Usage } from "./usage";

interface Tab {
  readonly id: string;
  readonly name: string;
  /** For callers who may do this. */
  readonly needs?: Act;
  /** It is a list. */
  readonly wide?: boolean;
  readonly show: ComponentType;
}

const Audit = onDemand(() => import("@/audit/audit").then((m) => m.Audit), { loading: <Loading /> });

const tabs: readonly Tab[] = [
  { id: "profile", name: "Profile", show: Profile },
  { id: "appearance", name: "Appearance", show: Appearance },
  { id: "members", name: "Members", needs: "read_invites", wide: true, show: Members },
  { id: "keys", name: "Keys", needs: "read_settings", wide: true, show: Keys },
  { id: "audit", name: "Audit", needs: "read_audit", wide: true, show: Audit },
  { id: "usage", name: "Usage", needs: "read_settings", wide: true, show: Usage },
  { id: "server", name: "Server", show: Server },
  { id: "browser", name: "This browser", show: Browser },
];

/** The page. */
export function SettingsPage() {
  useFreshActs();
  const { session, may } = useConsole();
  const asked = useSearch({ from: "/s/$session/settings" }).tab;
  const shown = tabs.filter((t) => t.needs === undefined || may(t.needs));
  const tab = shown.find((t) => t.id === asked) ?? shown[0];
  const list = useRef<HTMLUListElement>(null);
  // On a phone the topic that is shown may be beyond the edge.
  useEffect(() => {
    list.current?.querySelector("[aria-current=page]")?.scrollIntoView({ block: "nearest", inline: "center" });
  }, [tab]);
  const Show = tab?.show ?? Appearance;
  return (
    <Page title="Settings">
      <nav aria-label="Settings" className="shrink-0">
        <ul ref={list} className="fades flex gap-1 overflow-x-auto border-b border-line bg-surface px-2.5">
          {shown.map((t) => (
            <li key={t.id} className="shrink-0">
              <Link
                to="/s/$session/settings"
                params={{ session }}
                search={{ tab: t.id }}
                aria-current={t === tab ? "page" : undefined}
                className="flex min-h-10 items-center border-b-2 touch:min-h-11 border-transparent px-2.5 text-soft -outline-offset-2 hover:text-ink aria-[current=page]:border-accent aria-[current=page]:font-medium aria-[current=page]:text-accent"
              >
                {t.name}
              </Link>
            </li>
          ))}
        </ul>
      </nav>
      <section aria-labelledby="topic" className={classes("flex flex-col gap-5 p-5", tab?.wide === true ? "max-w-page" : "max-w-read")}>
        <h2 id="topic" className="sr-only">
          {tab?.name}
        </h2>
        <Show />
      </section>
    </Page>
  );
}
