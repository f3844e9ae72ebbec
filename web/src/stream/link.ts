// The way from a tab to the switchboard: through the SharedWorker, or to one of
// its own where the browser has none.
import workerURL from "./shared.worker?sharedworker&url";
import type { Topic } from "./source";
import { type Answer, type Asked, Switchboard } from "./switchboard";

/** Sends to the switchboard. */
export type Ask = (asked: Asked) => void;

/** Connects this tab; `hear` is called for every answer, `topics` tells what the tab looks at. */
export function link(hear: (a: Answer) => void, topics: () => readonly Topic[]): Ask {
  const here = () => ask({ kind: "here", topics: topics() });
  let way = shared(hear, () => {
    way = own(hear);
    here();
  });
  way ??= own(hear);
  const ask: Ask = (asked) => way?.(asked);
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
    const worker = new SharedWorker(trusted(workerURL) as string, { type: "module", name: "shoal" });
    worker.onerror = lost;
    worker.port.onmessage = (message: MessageEvent<Answer>) => hear(message.data);
    worker.port.start();
    return (asked) => worker.port.postMessage(asked);
  } catch {
    return undefined;
  }
}

function own(hear: (a: Answer) => void): Ask {
  const board = new Switchboard();
  return (asked) => board.handle(hear, asked);
}

interface TrustedTypes {
  createPolicy(name: string, rules: { createScriptURL(url: string): string }): { createScriptURL(url: string): unknown };
}

// The page's policy demands that URLs of scripts come from a named place: this is
// the only one, and it lets nothing through but the worker of this build.
function trusted(url: string): unknown {
  const types = (window as { trustedTypes?: TrustedTypes }).trustedTypes;
  if (types === undefined) return url;
  const policy = types.createPolicy("shoal-worker", {
    createScriptURL: (asked) => {
      if (asked !== workerURL) throw new TypeError("not the worker of this console");
      return asked;
    },
  });
  return policy.createScriptURL(url);
}
