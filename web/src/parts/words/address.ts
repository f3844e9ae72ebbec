// Addresses that others wrote. Only those that open a page or a mail program are
// links; pictures load only from this server.

/** An address that may be a link. */
export interface Address {
  readonly href: string;
  /** Where it leads: the host, the mailbox's host, or "this server". */
  readonly host: string;
  /** It names a user before the host, which makes hosts look like others. */
  readonly disguised: boolean;
}

const file = /^\/v1\/sessions\/[A-Za-z0-9_.-]{1,64}\/files\/[A-Za-z0-9_.-]{1,64}$/;

/** Whether an address is a file that this server keeps. */
export function ownFile(url: string): boolean {
  return file.test(url) && !url.includes("/../") && !url.endsWith("/..") && !url.includes("/./") && !url.endsWith("/.");
}

/** The address as a link; undefined for one that must not be one. */
export function address(url: string): Address | undefined {
  if (ownFile(url)) return { href: url, host: "this server", disguised: false };
  if (!/^(?:https?:\/\/|mailto:)/i.test(url)) return undefined;
  let parsed: URL;
  try {
    parsed = new URL(url);
  } catch {
    return undefined;
  }
  if (parsed.protocol === "mailto:") return { href: parsed.href, host: parsed.pathname.split("@").pop() ?? "", disguised: false };
  if (parsed.protocol !== "http:" && parsed.protocol !== "https:") return undefined;
  return { href: parsed.href, host: parsed.host, disguised: parsed.username !== "" || parsed.password !== "" };
}

/** Whether a link's text names the address it leads to, so that the host need not be shown. */
export function namesHost(words: string, to: Address): boolean {
  if (to.disguised) return false;
  const said = words.trim().replace(/\/$/, "").toLowerCase();
  const bare = to.href.replace(/^(?:https?:\/\/|mailto:)/i, "").replace(/\/$/, "").toLowerCase();
  return said === bare || said === to.host || said === to.href.replace(/\/$/, "").toLowerCase();
}
