// Shows browser notifications while the page is hidden: who needs the reader, and in which
// space, never the text of a message.
import { useNavigate } from "@tanstack/react-router";
import { useEffect } from "react";
import { useConsole } from "@/app/console";
import { useSettings } from "@/app/settings";
import { useLive } from "@/live/hooks";
import { type News, newsOf } from "./news";

/** Renders nothing. */
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

// A visible tab holds a lock, so that the other tabs show no notification. Browsers give no
// locks to pages of plain HTTP on another machine; there every hidden tab shows it, under
// one tag.
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

// All tabs use the same tag, which makes one notification.
function show(news: News, follow: (news: News) => void): void {
  const shown = new Notification(news.title, { body: news.body, tag: news.tag, icon: "/favicon.svg" });
  shown.onclick = () => {
    window.focus();
    follow(news);
    shown.close();
  };
}
