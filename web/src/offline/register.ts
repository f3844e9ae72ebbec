// Registers the service worker, which opens the console while the server is away.

const path = "/sw.js";

interface TrustedTypes {
  createPolicy(name: string, rules: { createScriptURL(url: string): string }): { createScriptURL(url: string): unknown };
}

// As for the worker of the stream: the content security policy accepts this address alone.
function script(): string {
  const types = (window as { trustedTypes?: TrustedTypes }).trustedTypes;
  if (types === undefined) return path;
  const policy = types.createPolicy("shoal-service-worker", {
    createScriptURL: (url) => {
      if (url !== path) throw new TypeError("another worker");
      return url;
    },
  });
  return policy.createScriptURL(path) as string;
}

/**
 * Registers the service worker. Browsers have none for pages of plain HTTP on another machine,
 * and may refuse it, for example in a private window: then the console works without it.
 */
export async function register(): Promise<void> {
  if (!import.meta.env.PROD || !("serviceWorker" in navigator)) return;
  try {
    await navigator.serviceWorker.register(script(), { updateViaCache: "none" });
  } catch {
    // The browser says why in its own console.
  }
}
