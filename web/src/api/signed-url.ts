// Signed URLs: what a browser loads by itself, a picture, a frame, a download, carries
// no header, so that its address says for five minutes who may read it.
import { actor, api } from "./client";

interface Signed {
  readonly url: Promise<string>;
  /** From when on a new one is asked for. */
  until: number;
}

const known = new Map<string, Signed>();
const mostKnown = 500;

/** The signed URL of a file, or of a renderer's page, of this server. Throws a Problem. */
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

/** Asks for a new one the next time, for example because what was there did not load. */
export function forgetSigned(url: string): void {
  known.delete(`${actor() ?? ""} ${url}`);
}

async function sign(url: string): Promise<{ text: string; until: number }> {
  const session = decodeURIComponent(url.split("/")[3] ?? "");
  const made = await api.POST("/v1/sessions/{session}/signed-urls", { params: { path: { session } }, body: { url } });
  // A minute is left for what loads late.
  return { text: made.url, until: made.expiresAt === null ? Infinity : Date.now() + 4 * 60_000 };
}
