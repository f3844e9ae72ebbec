// What a page shows that was opened while the server is away. It opens by itself afterwards.
import { useEffect } from "react";
import { ShoalError } from "@shoal-dev/client";
import { Button } from "@/ui/button";
import { Failed } from "@/ui/placeholder";

/** How often a visible page asks whether the server is back, in ms. */
const interval = 2_000;

// The reload takes the page from the server: it may be of another version by now.
const reload = () => location.reload();

async function isBack(): Promise<boolean> {
  try {
    return (await fetch("/healthz", { cache: "no-store" })).ok;
  } catch {
    return false;
  }
}

/** The failure of the first call. If the server cannot be reached, the page reloads when it is back. */
export function Away({ error, retry }: { error: unknown; retry: () => void }) {
  const { status } = ShoalError.from(error);
  const away = status === 0 || (status >= 502 && status <= 504);
  useEffect(() => {
    if (!away) return;
    const timer = setInterval(() => {
      if (document.visibilityState === "visible") void isBack().then((back) => back && reload());
    }, interval);
    return () => clearInterval(timer);
  }, [away]);
  if (!away) return <Failed error={error} retry={retry} />;
  return (
    <main className="flex min-h-dvh items-center justify-center">
      <div role="alert" className="flex max-w-md flex-col items-center gap-3 px-6 py-16 text-center">
        <h1 className="text-lg font-semibold">Server unreachable</h1>
        <p className="text-soft">
          This page opens by itself when <span className="wrap-anywhere">{location.host}</span> answers again. Drafts and unsent messages are stored in this browser.
        </p>
        <Button onClick={reload}>Try now</Button>
      </div>
    </main>
  );
}
