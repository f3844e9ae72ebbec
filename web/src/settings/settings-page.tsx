// Settings, one topic at a time. The address names the topic.
import { Link, useSearch } from "@tanstack/react-router";
import type { ComponentType } from "react";
import { useConsole } from "@/app/console";
import { places } from "@/app/places";
import { classes } from "@/ui/classes";
import { Page } from "@/ui/page";
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
  readonly admin?: boolean;
  /** It is a list. */
  readonly wide?: boolean;
  readonly show: ComponentType;
}

const tabs: readonly Tab[] = [
  { id: "profile", name: "Profile", show: Profile },
  { id: "appearance", name: "Appearance", show: Appearance },
  { id: "members", name: "Members", admin: true, wide: true, show: Members },
  { id: "keys", name: "Keys", admin: true, wide: true, show: Keys },
  { id: "usage", name: "Usage", admin: true, wide: true, show: Usage },
  { id: "server", name: "Server", show: Server },
  { id: "browser", name: "This browser", show: Browser },
];

/** The page. */
export function SettingsPage() {
  const { session, admin } = useConsole();
  const asked = useSearch({ from: "/s/$session/settings" }).tab;
  const shown = tabs.filter((t) => admin || t.admin !== true);
  const tab = shown.find((t) => t.id === asked) ?? shown[0];
  const Show = tab?.show ?? Appearance;
  return (
    <Page title="Settings">
      <nav aria-label="Settings" className="border-b border-line bg-surface px-2.5">
        <ul className="flex flex-wrap gap-x-1">
          {shown.map((t) => (
            <li key={t.id}>
              <Link
                to="/s/$session/settings"
                params={{ session }}
                search={{ tab: t.id }}
                aria-current={t === tab ? "page" : undefined}
                className="-mb-px flex min-h-10 items-center border-b-2 border-transparent px-2.5 text-soft -outline-offset-2 hover:text-ink aria-[current=page]:border-accent aria-[current=page]:font-medium aria-[current=page]:text-accent"
              >
                {t.name}
              </Link>
            </li>
          ))}
        </ul>
      </nav>
      <div className={classes("flex flex-col gap-5 p-5", tab?.wide === true ? "max-w-page" : "max-w-read")}>
        {asked === undefined && <Elsewhere />}
        <section aria-labelledby="topic" className="flex flex-col gap-5">
          <h2 id="topic" className="sr-only">
            {tab?.name}
          </h2>
          <Show />
        </section>
      </div>
    </Page>
  );
}

// The bar at the bottom of a phone has room for five pages; the others are listed here.
function Elsewhere() {
  const { session, admin } = useConsole();
  const others = places.filter((p) => (admin || p.admin !== true) && ["Agents", "Plans", "Sessions", "Connect"].includes(p.name));
  return (
    <nav aria-label="Other pages" className="flex flex-wrap gap-2 md:hidden">
      {others.map((p) => {
        const Icon = p.icon;
        return (
          <Link key={p.to} to={p.to} params={{ session }} className="inline-flex min-h-9 items-center gap-2 rounded-md border border-edge bg-surface px-3">
            <Icon aria-hidden className="size-4 text-soft" />
            {p.name}
          </Link>
        );
      })}
    </nav>
  );
}
