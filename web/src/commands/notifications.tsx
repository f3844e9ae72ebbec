// Tells by the browser's own notifications what needs the reader while the page is
// hidden: who, and in which space, never what was said.
import { useNavigate } from "@tanstack/react-router";
import { useEffect } from "react";
import { useConsole } from "@/app/console";
import { useSettings } from "@/app/settings";
import { useLive } from "@/live/hooks";
import { type News, newsOf } from "./news";

/** Draws nothing. */
export function Notifications() {
  const { session } = useConsole();
  const live = useLive();
  const go = useNavigate();
  const { notifications } = useSettings();
  useVisibleLock();
  useEffect(() => {
    if (!notifications || typeof Notification === "undefined") return;
    return live.tap((event) => {
      if (document.visibilityState === "visible" || Notification.permission !== "granted") return;
      const news = newsOf(event, live.live);
      if (news === undefined) return;
      void looking().then((somewhere) => {
        if (!somewhere) show(news, (n) => void follow(n));
      });
    });
    function follow(news: News) {
      const params = { session };
      if (news.space === undefined) return go({ to: "/s/$session/approvals", params });
      return go({ to: "/s/$session/spaces/$space", params: { session, space: news.space }, search: { seq: news.seq } });
    }
  }, [notifications, live, session, go]);
  return null;
}

const lock = "shoal.visible";

// A tab holds a lock for as long as it is visible: who looks at the console in one
// tab is not told by the others. Browsers give no locks to pages of plain HTTP on
// another machine; there every hidden tab tells, under one tag.
async function looking(): Promise<boolean> {
  const held = await navigator.locks?.query();
  return held?.held?.some((l) => l.name === lock) ?? false;
}

function useVisibleLock(): void {
  useEffect(() => {
    if (!("locks" in navigator)) return;
    let release: () => void = () => undefined;
    const renew = () => {
      release();
      release = () => undefined;
      if (document.visibilityState !== "visible") return;
      const hidden = new Promise<void>((resolve) => (release = resolve));
      void navigator.locks.request(lock, { mode: "shared" }, () => hidden);
    };
    renew();
    document.addEventListener("visibilitychange", renew);
    return () => {
      document.removeEventListener("visibilitychange", renew);
      release();
    };
  }, []);
}

// Every tab hears the same: one tag is one notification.
function show(news: News, follow: (news: News) => void): void {
  const shown = new Notification(news.title, { body: news.body, tag: news.tag, icon: "/favicon.svg" });
  shown.onclick = () => {
    window.focus();
    follow(news);
    shown.close();
  };
}
