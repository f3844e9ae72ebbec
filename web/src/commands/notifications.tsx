// Starts the browser notifications, if the reader wants them.
import { useNavigate } from "@tanstack/react-router";
import { useEffect } from "react";
import { useConsole } from "@/app/console";
import { useSettings } from "@/app/settings";
import { useLive } from "@/live/hooks";
import type { News } from "./news";

/** Renders nothing. */
export function Notifications() {
  const { session } = useConsole();
  const live = useLive();
  const go = useNavigate();
  const { notifications } = useSettings();
  useEffect(() => {
    if (!notifications || typeof Notification === "undefined") return;
    // Few readers want them, so they are not part of the shell.
    const stop = import("./notifier").then(({ watch }) => watch(live, (news) => void follow(news)));
    return () => void stop.then((end) => end());
    function follow(news: News) {
      const params = { session };
      if (news.space === undefined) return go({ to: "/s/$session/approvals", params });
      return go({ to: "/s/$session/spaces/$space", params: { session, space: news.space }, search: { seq: news.seq } });
    }
  }, [notifications, live, session, go]);
  return null;
}
