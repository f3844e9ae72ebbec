// Signed URLs. Requests that the browser makes by itself, for images, frames and downloads,
// have no headers of ours: for five minutes their URL carries the permission to read.
import { actor, api } from "./client";

interface Signed {
  readonly url: Promise<string>;
  /** When to request a new one, in ms since the epoch. */
  until: number;
}

const known = new Map<string, Signed>();
const mostKnown = 500;

/** Returns the signed URL of a file or of a renderer's page. Throws a ShoalError. */
export function signedURL(url: string): Promise<string> {
  const id = `${actor() ?? ""} ${url}`;
  const found = known.get(id);
  if (found !== undefined && Date.now() < found.until) return found.url;
  const asked: Signed = { url: sign(url).then(({ text, until }) => ((asked.until = until), text)), until: Infinity };
  asked.url.catch(() => known.delete(id));
  if (known.size >= mostKnown) known.clear();
  known.set(id, asked);
  return asked.url;
}

/** Makes the next call request a new URL, for example because this one did not load. */
export function forgetSigned(url: string): void {
  known.delete(`${actor() ?? ""} ${url}`);
}

async function sign(url: string): Promise<{ text: string; until: number }> {
  const session = decodeURIComponent(url.split("/")[3] ?? "");
  const made = await api.POST("/v1/sessions/{session}/signed-urls", { params: { path: { session } }, body: { url } });
  // A minute remains for what loads late.
  return { text: made.url, until: made.expiresAt === null ? Infinity : Date.now() + 4 * 60_000 };
}
