// Connects a tab to the switchboard: in the SharedWorker, or in a worker of its own where
// the browser has no SharedWorker.
import type { Topic } from "@shoal-dev/client/live";
import workerURL from "./shared.worker?sharedworker&url";
import type { TabRequest, TabUpdate } from "./switchboard";

/** Sends a request to the switchboard. */
export type Send = (request: TabRequest) => void;

/** Connects this tab. Every update is passed to `receive`; `topics` returns what the tab has joined. */
export function link(receive: (u: TabUpdate) => void, topics: () => readonly Topic[]): Send {
  let post: Send | undefined;
  const send: Send = (request) => post?.(request);
  const sendAlive = () => send({ kind: "alive", topics: topics() });
  const useDedicated = () => {
    post = dedicated(receive, () => setTimeout(useDedicated, 5_000));
    sendAlive();
  };
  post = shared(receive, useDedicated);
  if (post === undefined) useDedicated();
  setInterval(sendAlive, 50_000);
  window.addEventListener("pagehide", (event) => {
    if (!event.persisted) send({ kind: "bye" });
  });
  // The switchboard may have dropped a tab that was suspended, or kept for the back button.
  for (const name of ["pageshow", "online", "focus"]) {
    window.addEventListener(name, () => {
      sendAlive();
      send({ kind: "retry" });
    });
  }
  return send;
}

// Undefined if the browser has no SharedWorker, or refuses it to this page. `onLost` is
// called if the script of the worker does not load.
function shared(receive: (u: TabUpdate) => void, onLost: () => void): Send | undefined {
  if (typeof SharedWorker === "undefined") return undefined;
  try {
    const worker = new SharedWorker(script() as string, { type: "module", name: "shoal" });
    worker.onerror = onLost;
    worker.port.onmessage = (message: MessageEvent<TabUpdate>) => receive(message.data);
    worker.port.start();
    return (request) => worker.port.postMessage(request);
  } catch {
    return undefined;
  }
}

// A worker that runs the same script for this tab alone. `onLost` is called if the script
// does not load. An error that the switchboard throws is an ErrorEvent instead.
function dedicated(receive: (u: TabUpdate) => void, onLost: () => void): Send {
  const worker = new Worker(script() as string, { type: "module", name: "shoal" });
  worker.onerror = (event) => {
    if (!(event instanceof ErrorEvent)) onLost();
  };
  worker.onmessage = (message: MessageEvent<TabUpdate>) => receive(message.data);
  return (request) => worker.postMessage(request);
}

interface TrustedTypes {
  createPolicy(name: string, rules: { createScriptURL(url: string): string }): { createScriptURL(url: string): unknown };
}

// The content security policy accepts URLs of scripts only from a named trusted-types
// policy, which can be created only once. This one accepts the worker of this build alone.
let trustedURL: unknown;
function script(): unknown {
  const types = (window as { trustedTypes?: TrustedTypes }).trustedTypes;
  if (types === undefined) return workerURL;
  trustedURL ??= types
    .createPolicy("shoal-worker", {
      createScriptURL: (url) => {
        if (url !== workerURL) throw new TypeError("not the worker of this console");
        return url;
      },
    })
    .createScriptURL(workerURL);
  return trustedURL;
}
