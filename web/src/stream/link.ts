// The way from a tab to the switchboard: through the SharedWorker, or through a
// worker of its own where the browser has none.
import workerURL from "./shared.worker?sharedworker&url";
import type { Answer, Asked } from "./switchboard";
import type { Topic } from "@/client/topic";

/** Sends to the switchboard. */
export type Ask = (asked: Asked) => void;

/** Connects this tab; `hear` is called for every answer, `topics` tells what the tab looks at. */
export function link(hear: (a: Answer) => void, topics: () => readonly Topic[]): Ask {
  let way: Ask | undefined;
  const ask: Ask = (asked) => way?.(asked);
  const here = () => ask({ kind: "here", topics: topics() });
  const own = () => {
    way = dedicated(hear, () => setTimeout(own, 5_000));
    here();
  };
  way = shared(hear, own);
  if (way === undefined) own();
  setInterval(here, 50_000);
  window.addEventListener("pagehide", (event) => {
    if (!event.persisted) ask({ kind: "bye" });
  });
  // A tab that slept, or was kept for the way back, may have been taken for gone.
  for (const name of ["pageshow", "online", "focus"]) {
    window.addEventListener(name, () => {
      here();
      ask({ kind: "retry" });
    });
  }
  return ask;
}

// Undefined where there are no such workers, or a browser does not let this page
// have one; `lost` is called if its script cannot be loaded.
function shared(hear: (a: Answer) => void, lost: () => void): Ask | undefined {
  if (typeof SharedWorker === "undefined") return undefined;
  try {
    const worker = new SharedWorker(script() as string, { type: "module", name: "shoal" });
    worker.onerror = lost;
    worker.port.onmessage = (message: MessageEvent<Answer>) => hear(message.data);
    worker.port.start();
    return (asked) => worker.port.postMessage(asked);
  } catch {
    return undefined;
  }
}

// A worker that runs the same script for this tab alone; `lost` is called if the
// script cannot be loaded. What the switchboard itself throws is an ErrorEvent.
function dedicated(hear: (a: Answer) => void, lost: () => void): Ask {
  const worker = new Worker(script() as string, { type: "module", name: "shoal" });
  worker.onerror = (event) => {
    if (!(event instanceof ErrorEvent)) lost();
  };
  worker.onmessage = (message: MessageEvent<Answer>) => hear(message.data);
  return (asked) => worker.postMessage(asked);
}

interface TrustedTypes {
  createPolicy(name: string, rules: { createScriptURL(url: string): string }): { createScriptURL(url: string): unknown };
}

// The page's policy demands that URLs of scripts come from a named place, which may
// be made only once: this is the only one, and it lets nothing through but the
// worker of this build.
let made: unknown;
function script(): unknown {
  const types = (window as { trustedTypes?: TrustedTypes }).trustedTypes;
  if (types === undefined) return workerURL;
  made ??= types
    .createPolicy("shoal-worker", {
      createScriptURL: (asked) => {
        if (asked !== workerURL) throw new TypeError("not the worker of this console");
        return asked;
      },
    })
    .createScriptURL(workerURL);
  return made;
}
