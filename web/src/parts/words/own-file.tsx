// Files that this server keeps. A browser reads them by signed URLs, which are asked
// for when a picture is drawn or a link is followed.
import { type MouseEvent, type ReactNode, useEffect, useState } from "react";
import { ShoalError } from "@shoal-dev/client";
import { forgetSigned, signedURL } from "@/api/signed-url";

/** The signed URL of what this server keeps, once it is known, and why it is not. */
export function useSigned(url: string): { readonly src: string | undefined; readonly problem: ShoalError | undefined; readonly again: () => void } {
  const [signed, setSigned] = useState<{ readonly of: string; readonly src?: string; readonly problem?: ShoalError }>();
  const [tries, setTries] = useState(0);
  useEffect(() => {
    let gone = false;
    signedURL(url).then(
      (src) => !gone && setSigned({ of: url, src }),
      (error: unknown) => !gone && setSigned({ of: url, problem: ShoalError.from(error) }),
    );
    return () => void (gone = true);
  }, [url, tries]);
  const again = () => {
    // What does not load with a new signature is not there.
    if (tries > 0) return;
    forgetSigned(url);
    setTries(1);
  };
  const now = signed?.of === url ? signed : undefined;
  return { src: now?.src, problem: now?.problem, again };
}

/** A picture that this server keeps; a click opens it in a new tab. */
export function OwnImage({ src, alt }: { src: string; alt: string }) {
  const signed = useSigned(src);
  return (
    <OwnFileLink url={src} className="block w-fit max-w-full">
      <img src={signed.src} alt={alt === "" ? "Picture without a description" : alt} loading="lazy" onError={signed.again} className="max-h-96 max-w-full rounded-md border border-line" />
    </OwnFileLink>
  );
}

/** A link to a file that this server keeps: it opens in a new tab, or is saved under a name. */
export function OwnFileLink({ url, saveAs, className, children }: { url: string; saveAs?: string; className?: string; children: ReactNode }) {
  const [problem, setProblem] = useState<ShoalError>();
  const follow = (event: MouseEvent) => {
    if (event.button > 1) return;
    event.preventDefault();
    setProblem(undefined);
    // A tab that is opened later than the click would be taken for an advertisement.
    const tab = saveAs === undefined ? window.open("", "_blank") : null;
    if (tab !== null) tab.opener = null;
    signedURL(url).then(
      (to) => {
        if (tab !== null) tab.location.replace(to);
        else save(to, saveAs);
      },
      (error: unknown) => {
        tab?.close();
        setProblem(ShoalError.from(error));
      },
    );
  };
  return (
    <>
      <a href={url} rel="noopener noreferrer" className={className} onClick={follow} onAuxClick={follow}>
        {children}
      </a>
      {problem !== undefined && (
        <span role="alert" className="text-sm text-bad">
          {" "}
          {problem.message}
        </span>
      )}
    </>
  );
}

function save(url: string, name: string | undefined): void {
  const link = document.createElement("a");
  link.href = url;
  if (name === undefined) link.target = "_blank";
  else link.download = name;
  link.rel = "noopener noreferrer";
  link.click();
}
