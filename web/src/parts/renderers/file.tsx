// Files and pictures: those that this server keeps are shown and downloaded, others
// are links.
import { Download, ExternalLink, FileText } from "lucide-react";
import { address, ownFile } from "../words/address";
import { RemoteImage } from "../words/link";
import { OwnFileLink, OwnImage } from "../words/own-file";
import { LongWords, Words } from "../words/words";
import { member, textMember } from "./shape";

const pictures = ["image/png", "image/jpeg", "image/gif", "image/webp"];
const mostData = 8 << 20;
const linkClass = "inline-flex min-h-6 shrink-0 touch:min-h-11 items-center gap-1 text-accent underline underline-offset-2";

/** A file: a picture in place, anything else as a row with its name, type and size. */
export function FileRow({ name, mediaType, size, url }: { name: string; mediaType: string; size?: number; url: string }) {
  const own = ownFile(url);
  const to = address(url);
  const picture = pictures.includes(mediaType.toLowerCase());
  return (
    <div className="flex min-w-0 flex-col gap-1">
      {picture && (own ? <OwnImage src={url} alt={name} /> : <RemoteImage src={url} alt={name} />)}
      {(!picture || own) && (
        <div className="flex w-fit max-w-full items-center gap-2 rounded-md border border-line bg-surface px-3 py-1.5 text-sm">
          <FileText aria-hidden className="size-4 shrink-0 text-soft" />
          <span className="min-w-0 [overflow-wrap:anywhere]">
            <span className="font-medium" dir="auto">
              <LongWords text={name} limit={200} />
            </span>{" "}
            <span className="text-soft">
              <Words text={[mediaType.slice(0, 100), size === undefined ? "" : bytes(size)].filter((s) => s !== "").join(", ")} />
              {!own && to !== undefined && (
                <>
                  , at <Words text={to.host} />
                </>
              )}
            </span>
          </span>
          {own && (
            <OwnFileLink url={url} saveAs={name} className={linkClass}>
              <Download aria-hidden className="size-3.5" />
              Download
            </OwnFileLink>
          )}
          {!own && to !== undefined && (
            <a href={to.href} target="_blank" rel="noopener noreferrer" className={linkClass}>
              <ExternalLink aria-hidden className="size-3.5" />
              Open in a new tab
            </a>
          )}
        </div>
      )}
    </div>
  );
}

/** A size as people say it. */
export function bytes(n: number): string {
  if (!Number.isFinite(n) || n < 0) return "";
  if (n < 1000) return `${n} bytes`;
  const units = ["kB", "MB", "GB", "TB"];
  let v = n / 1000;
  let u = 0;
  while (v >= 999.5 && u < units.length - 1) {
    v /= 1000;
    u++;
  }
  return `${v < 10 ? v.toFixed(1) : Math.round(v)} ${units[u]}`;
}

/** A picture of a tool: on this server, elsewhere, or in the value itself as base64. */
export function ImageValue({ value }: { value: unknown }) {
  const alt = textMember(value, "alt", "title", "caption", "name", "description") ?? "";
  const inline = inlinePicture(value);
  if (inline !== undefined) return <img src={inline} alt={alt === "" ? "Picture without a description" : alt} className="max-h-96 max-w-full rounded-md border border-line" />;
  const url = textMember(value, "url", "src") ?? "";
  return ownFile(url) ? <OwnImage src={url} alt={alt} /> : <RemoteImage src={url} alt={alt} />;
}

function inlinePicture(value: unknown): string | undefined {
  const data = member(value, "data");
  const type = textMember(value, "mimeType", "mediaType") ?? "";
  if (typeof data !== "string" || data.length > mostData || !pictures.includes(type) || !/^[A-Za-z0-9+/]+={0,2}$/.test(data)) return undefined;
  return `data:${type};base64,${data}`;
}
