// The commands of the palette: pages, spaces, agents, active runs, actions.
import { useNavigate } from "@tanstack/react-router";
import { Bell, Bot, Hash, KeyRound, Keyboard, LogOut, type LucideIcon, MonitorSmartphone, PlayCircle, Plug, Plus, SunMoon, UserPlus } from "lucide-react";
import { useMemo } from "react";
import { useConsole } from "@/app/console";
import { places, spacesPlace } from "@/app/places";
import { change } from "@/app/settings";
import { shortcuts } from "@/app/shortcuts";
import { ended } from "@shoal-dev/client";
import { useEntities, useRuns, useSpaces } from "@/live/hooks";
import { byName } from "@/space/sections";
import { runWord } from "@/ui/state";

/** One command. */
export interface Command {
  readonly id: string;
  readonly group: "Pages" | "Spaces" | "Agents" | "Active runs" | "Actions" | "Search";
  readonly name: string;
  /** A few words after the name. */
  readonly hint?: string;
  /** More words that find it. */
  readonly also?: string;
  readonly icon: LucideIcon;
  readonly run: () => void;
}

/** Switches between the light and the dark theme. */
function toggleTheme(): void {
  change({ theme: document.documentElement.dataset.theme === "dark" ? "light" : "dark" });
}

/** All commands, in the order of the palette. */
export function useCommands(newSpace: () => void): readonly Command[] {
  const { session, admin, actor, may } = useConsole();
  const go = useNavigate();
  const spaces = useSpaces();
  const entities = useEntities();
  const runs = useRuns();
  return useMemo(() => {
    const params = { session };
    const names = new Map(entities.map((e) => [e.id, e.name]));
    const out: Command[] = [];
    for (const s of [...spaces].sort((a, b) => Number(a.status === "closed") - Number(b.status === "closed") || b.mentionCount - a.mentionCount || b.unreadCount - a.unreadCount || byName(a.name, b.name))) {
      const hint = s.status === "closed" ? "closed" : s.mentionCount > 0 ? `${s.mentionCount} for you` : s.unreadCount > 0 ? `${s.unreadCount} unread` : undefined;
      out.push({ id: `space:${s.id}`, group: "Spaces", name: s.name, hint, also: s.id, icon: Hash, run: () => void go({ to: "/s/$session/spaces/$space", params: { session, space: s.id } }) });
    }
    for (const p of [spacesPlace, ...places]) {
      if (p.needs !== undefined && !may(p.needs)) continue;
      out.push({ id: p.to, group: "Pages", name: p.name, hint: p.keys, icon: p.icon, run: () => void go({ to: p.to, params }) });
    }
    for (const e of entities) {
      if (e.kind !== "agent" || !may("read_settings")) continue;
      const run = e.hosted
        ? () => void go({ to: "/s/$session/agents/$agent", params: { session, agent: e.id } })
        : () => void go({ to: "/s/$session/connect", params, search: { entity: e.id } });
      out.push({ id: `agent:${e.id}`, group: "Agents", name: e.name, hint: e.hosted ? "configuration" : "connect", also: e.id, icon: Bot, run });
    }
    for (const r of runs) {
      if (ended(r.status)) continue;
      out.push({ id: `run:${r.id}`, group: "Active runs", name: `Run of ${names.get(r.agentId) ?? r.agentId}`, hint: runWord(r.status), also: r.id, icon: PlayCircle, run: () => void go({ to: "/s/$session/runs/$run", params: { session, run: r.id } }) });
    }
    const settings = (tab: string) => () => void go({ to: "/s/$session/settings", params, search: { tab } });
    const act = (name: string, icon: LucideIcon, run: () => void, also?: string) => out.push({ id: `do:${name}`, group: "Actions", name, icon, run, also });
    if (actor !== null && may("create_space")) act("New space", Plus, newSpace, "create conversation thread");
    act("Connect an agent", Plug, () => void go({ to: "/s/$session/connect", params }), "claude codex cursor mcp client");
    act("Light or dark", SunMoon, toggleTheme, "toggle theme appearance");
    if (admin) act("Act as another participant", UserPlus, settings("profile"), "operator entity switch");
    if (may("manage")) {
      act("Create a key", KeyRound, settings("keys"), "token");
      act("Add a participant", UserPlus, settings("members"), "entity human person agent");
    }
    act("Notifications", Bell, settings("appearance"), "settings");
    act("Keyboard shortcuts", Keyboard, () => shortcuts().find((s) => s.keys === "?")?.run(), "help keys");
    act("Sign in on another device", MonitorSmartphone, settings("browser"), "link phone");
    act("Sign out", LogOut, settings("browser"), "log out leave");
    return out;
  }, [session, admin, actor, may, go, spaces, entities, runs, newSpace]);
}
