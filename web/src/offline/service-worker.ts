// The service worker, built as /sw.js: it opens the console while the server is away, and shows
// what the server notifies the reader of. It keeps the files of one build, which are the same for
// everybody, and answers nothing else: no call of the API passes through it, so it holds nothing
// that anybody wrote.
//
// A page always comes from the server if that answers: what is kept is never shown in place
// of a newer build. Files below /assets/ have the hash of their content in their names, so
// they may come from here first.

/** What the build inserts: a name that no other build has, the address of the entry script, and the files to keep. */
interface Build {
  readonly version: string;
  readonly entry: string;
  readonly files: readonly string[];
}

interface Lasting {
  waitUntil(done: Promise<unknown>): void;
}

interface Fetching {
  readonly request: Request;
  respondWith(answer: Promise<Response>): void;
}

/** What the server sends (Notice in internal/hub/push). */
interface Notice {
  readonly kind: "mention" | "pending";
  readonly by: string;
  readonly sessionId: string;
  readonly spaceId?: string;
  readonly space?: string;
  readonly seq?: number;
  readonly tag: string;
}

interface Pushed extends Lasting {
  readonly data: { json(): unknown } | null;
}

interface Clicked extends Lasting {
  readonly notification: Notification;
}

interface Tab {
  readonly visibilityState: DocumentVisibilityState;
  focus(): Promise<Tab>;
  navigate(url: string): Promise<Tab | null>;
}

/** The part of ServiceWorkerGlobalScope that is used: TypeScript has it only for programs without a document. */
interface Scope {
  addEventListener(type: "install" | "activate", listener: (event: Lasting) => void): void;
  addEventListener(type: "fetch", listener: (event: Fetching) => void): void;
  addEventListener(type: "push", listener: (event: Pushed) => void): void;
  addEventListener(type: "notificationclick", listener: (event: Clicked) => void): void;
  skipWaiting(): Promise<void>;
  readonly registration: ServiceWorkerRegistration;
  readonly clients: { claim(): Promise<void>; matchAll(which: { type: "window"; includeUncontrolled: boolean }): Promise<Tab[]>; openWindow(url: string): Promise<unknown> };
}

declare const build: Build;
const scope = self as unknown as Scope;

const prefix = "shoal-console-";
const own = prefix + build.version;

/** What a proxy answers for a server that is away. */
const away = [502, 503, 504];

scope.addEventListener("install", (event) => event.waitUntil(install()));
scope.addEventListener("activate", (event) => event.waitUntil(activate()));
scope.addEventListener("push", (event) => event.waitUntil(show(event.data?.json() as Notice)));
scope.addEventListener("notificationclick", (event) => event.waitUntil(follow(event.notification)));
scope.addEventListener("fetch", (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (request.method !== "GET" || origin !== location.origin) return;
  if (request.mode === "navigate" && request.destination === "document") {
    if (pathname === "/" || pathname.startsWith("/s/")) event.respondWith(page(request));
  } else if (pathname.startsWith("/assets/") || pathname === "/favicon.svg") {
    event.respondWith(asset(request));
  }
});

// The whole build or nothing: a server that changes its version meanwhile has another page,
// and its own service worker.
async function install(): Promise<void> {
  const cache = await caches.open(own);
  try {
    await cache.addAll(build.files);
    const page = await cache.match("/");
    if (!(await page?.text())?.includes(build.entry)) throw new Error("The server has another build by now.");
  } catch (error) {
    await caches.delete(own);
    throw error;
  }
  await scope.skipWaiting();
}

// Tabs that the build before has opened still load its files: one older build is kept.
async function activate(): Promise<void> {
  const others = (await caches.keys()).filter((name) => name.startsWith(prefix) && name !== own);
  await Promise.all(others.slice(0, -1).map((name) => caches.delete(name)));
  await scope.clients.claim();
}

async function page(request: Request): Promise<Response> {
  const kept = async () => (await caches.open(own)).match("/");
  try {
    const answer = await fetch(request);
    return away.includes(answer.status) ? ((await kept()) ?? answer) : answer;
  } catch (error) {
    const page = await kept();
    if (page === undefined) throw error;
    return page;
  }
}

async function asset(request: Request): Promise<Response> {
  return (await caches.match(request.url)) ?? fetch(request);
}

const tabs = () => scope.clients.matchAll({ type: "window", includeUncontrolled: true });

// A reader who has the console before their eyes sees it there. Browsers accept a push without a
// notification only then.
async function show(notice: Notice): Promise<void> {
  if ((await tabs()).some((tab) => tab.visibilityState === "visible")) return;
  const by = notice.by === "system" ? "Shoal" : notice.by;
  const title = notice.kind === "mention" ? `${by} mentioned you` : `${by} needs an answer`;
  await scope.registration.showNotification(title, { body: notice.space ?? "Approvals", tag: notice.tag, icon: "/favicon.svg", data: addressOf(notice) });
}

function addressOf({ sessionId, spaceId, seq }: Notice): string {
  const session = `/s/${encodeURIComponent(sessionId)}`;
  if (spaceId === undefined) return `${session}/approvals`;
  return `${session}/spaces/${encodeURIComponent(spaceId)}${seq === undefined ? "" : `?seq=${seq}`}`;
}

// In a tab that is there, or in a new one.
async function follow(notification: Notification): Promise<void> {
  notification.close();
  const address = notification.data as string;
  const [tab] = await tabs();
  if (tab === undefined) return void (await scope.clients.openWindow(address));
  try {
    await (await tab.focus()).navigate(address);
  } catch {
    await scope.clients.openWindow(address); // a tab that this worker does not control
  }
}
