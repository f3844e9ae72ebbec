// Shows browser notifications while the page is hidden: who needs the reader, and in which
// space, never the text of a message.
import type { Store } from "@shoal-dev/client/live";
import { type News, newsOf } from "./news";

/** Shows the news of a session until the returned function is called. `follow` opens what they are about. */
export function watch(live: Pick<Store, "live" | "tap">, follow: (news: News) => void): () => void {
  const release = holdLock();
  const stop = live.tap((event) => {
    if (document.visibilityState === "visible" || Notification.permission !== "granted") return;
    const news = newsOf(event, live.live);
    if (news === undefined) return;
    void looking().then((somewhere) => {
      if (!somewhere) show(news, follow);
    });
  });
  return () => {
    stop();
    release();
  };
}

const lock = "shoal.visible";

// A visible tab holds a lock, so that the other tabs show no notification. Browsers give no
// locks to pages of plain HTTP on another machine; there every hidden tab shows it, under
// one tag.
async function looking(): Promise<boolean> {
  const held = await navigator.locks?.query();
  return held?.held?.some((l) => l.name === lock) ?? false;
}

// Holds the lock while the page is visible, until the returned function is called.
function holdLock(): () => void {
  if (!("locks" in navigator)) return () => undefined;
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
