// Links in what others wrote.
import { ExternalLink } from "lucide-react";
import type { ReactNode } from "react";
import { address, ownFile, namesHost } from "./address";
import { OwnFileLink } from "./own-file";
import { Words } from "./words";

/**
 * A link that opens in a new tab and sends no referrer. Its host is
 * shown if the text does not name it. An unsupported address is plain text.
 */
export function Link({ href, words, children }: { href: string; words: string; children?: ReactNode }) {
  const to = address(href);
  const shown = children ?? <Words text={words} />;
  if (to === undefined) return <span title="Links to this address are not supported">{shown}</span>;
  if (ownFile(href)) {
    return (
      <OwnFileLink url={href} className="text-accent underline decoration-from-font underline-offset-2 [overflow-wrap:anywhere]">
        {shown}
      </OwnFileLink>
    );
  }
  return (
    <>
      <a href={to.href} target="_blank" rel="noopener noreferrer" className="text-accent underline decoration-from-font underline-offset-2 [overflow-wrap:anywhere]">
        {shown}
      </a>
      {!namesHost(words, to) && (
        <span className="text-sm text-soft [overflow-wrap:anywhere]">
          {" "}
          (<Words text={to.host} />)
        </span>
      )}
    </>
  );
}

/** An image on another server. It is not loaded: the request would reveal the reader to that server. */
export function RemoteImage({ src, alt }: { src: string; alt: string }) {
  const to = address(src);
  if (to === undefined) {
    return (
      <span className="text-soft">
        [picture: <Words text={alt === "" ? "no description" : alt} />]
      </span>
    );
  }
  return (
    <a
      href={to.href}
      target="_blank"
      rel="noopener noreferrer"
      title="Images from other servers are not loaded, because the request would reveal that you read this message."
      className="inline-flex min-h-9 touch:min-h-11 max-w-full items-center gap-1.5 rounded-md border border-edge bg-surface px-3 py-1 text-sm text-ink hover:bg-sunken"
    >
      <ExternalLink aria-hidden className="size-3.5 shrink-0" />
      <span className="min-w-0 [overflow-wrap:anywhere]">
        Picture{alt !== "" && ": "}
        <Words text={alt} /> — load from <strong><Words text={to.host} /></strong> in a new tab
      </span>
    </a>
  );
}
