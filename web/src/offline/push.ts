// Notifications that arrive while no page is open: the browser subscribes at its push service,
// and the server keeps where that accepts them.
import { ShoalError } from "@shoal-dev/client";
import { api } from "@/api/client";
import { Stored, useStored } from "@/app/stored";
import { register } from "./register";

export { register };

/** Who is notified in this browser, as its last sign-in; all empty if nobody is. */
interface Subscribed {
  readonly session: string;
  readonly entity: string;
  readonly signIn: string;
  readonly id: string;
  /** When it was renewed last, in ms. */
  readonly at: number;
}

const nobody: Subscribed = { session: "", entity: "", signIn: "", id: "", at: 0 };

/** After which time a subscription is renewed, in ms. */
const day = 24 * 60 * 60 * 1000;
const stored = new Stored("shoal.push", nobody);

/** The id of the subscription of this browser; empty if it has none. */
export const useSubscription = (): string => useStored(stored).id;

/** Whether this browser can be notified while no page is open: it needs a service worker, which pages of plain HTTP on another machine have not. */
export const pushes = (): boolean => typeof PushManager !== "undefined" && "serviceWorker" in navigator;

/** The subscriptions of the acting entity. */
export const subscriptionsKey = (session: string, actor: string | null) => [session, actor, "push-subscriptions"] as const;
export const subscriptions = (session: string) => api.GET("/v1/sessions/{session}/push-subscriptions", { params: { path: { session } } });

/** Subscribes this browser for an entity, as one sign-in. Fails if the browser has no push service, or the reader has not allowed notifications. */
export async function subscribe(session: string, entity: string, signIn: string): Promise<void> {
  await register();
  const worker = await navigator.serviceWorker.getRegistration();
  if (worker === undefined) throw new Error("This browser does not keep the console, so nothing could show notifications.");
  const { publicKey } = await subscriptions(session);
  await awaitActive(worker);
  const found = await worker.pushManager.getSubscription();
  // Of another server on this address, or of its database before.
  if (found !== null && base64(found.options.applicationServerKey) !== publicKey) await found.unsubscribe();
  const own = await worker.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: publicKey });
  const body = { endpoint: own.endpoint, p256dh: base64(own.getKey("p256dh")), auth: base64(own.getKey("auth")) };
  const { id } = await api.POST("/v1/sessions/{session}/push-subscriptions", { params: { path: { session } }, body });
  stored.change({ session, entity, signIn, id, at: Date.now() });
}

/** Ends the subscription of this browser, also if the server does not know it any more. */
export async function unsubscribe(): Promise<void> {
  const { session, id } = stored.get();
  stored.change(nobody);
  const own = await (await navigator.serviceWorker.getRegistration())?.pushManager.getSubscription();
  await own?.unsubscribe();
  if (id !== "") await remove(session, id);
}

/** Ends a subscription. */
export async function remove(session: string, id: string): Promise<void> {
  try {
    await api.DELETE("/v1/sessions/{session}/push-subscriptions/{subscription}", { params: { path: { session, subscription: id } } });
  } catch (error) {
    if (ShoalError.from(error).status !== 404) throw error;
  }
}

/**
 * Renews the subscription of this browser for a reader who has opened the console, and ends that
 * of another reader, whose sign-in is over.
 */
export async function renew(session: string, entity: string | null, signIn: string): Promise<void> {
  const now = stored.get();
  if (now.id === "" || !pushes()) return;
  const other = now.entity !== entity;
  const same = now.signIn === signIn;
  if (other && same) return; // an admin acts as somebody else for a while
  if (!other && (now.session !== session || (same && Date.now() - now.at < day))) return;
  if (other || Notification.permission !== "granted") await unsubscribe();
  else await subscribe(session, now.entity, signIn);
}

/** A worker that is being installed cannot subscribe. */
async function awaitActive(worker: ServiceWorkerRegistration): Promise<void> {
  const coming = worker.installing ?? worker.waiting;
  if (worker.active !== null || coming === null) return;
  await new Promise<void>((resolve) => {
    coming.addEventListener("statechange", () => {
      if (coming.state === "activated" || coming.state === "redundant") resolve();
    });
  });
}

const base64 = (bytes: ArrayBuffer | null): string => btoa(String.fromCharCode(...new Uint8Array(bytes ?? new ArrayBuffer(0)))).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
