// How far the mention of an agent has got: one small mark beside its name.
import { useEffect, useRef, useState } from "react";
import type { Message } from "@shoal-dev/client";
import { classes } from "@/ui/classes";
import { describe, useReceipts } from "./receipts";

/** The mark of one mention of a message; nothing for people, who have no receipts. */
export function ReceiptMark({ message, entity }: { message: Message; entity: string }) {
  const here = useRef<HTMLSpanElement>(null);
  const receipt = useReceipts(message, useSeen(here)).data?.find((r) => r.entityId === entity);
  const is = receipt && describe(receipt);
  return (
    <span ref={here} title={is?.words} className={classes("font-normal", receipt?.state === "failed" && "text-bad")}>
      {is && (
        <>
          <span aria-hidden>{is.mark}</span>
          <span className="sr-only">({is.words})</span>
        </>
      )}
    </span>
  );
}

// Whether an element has been on the screen, so that a long timeline does not ask for every
// message in it.
function useSeen(element: React.RefObject<Element | null>): boolean {
  const [seen, setSeen] = useState(false);
  useEffect(() => {
    if (element.current === null || typeof IntersectionObserver === "undefined") return setSeen(true);
    const observer = new IntersectionObserver((found) => found.some((f) => f.isIntersecting) && setSeen(true));
    observer.observe(element.current);
    return () => observer.disconnect();
  }, [element]);
  return seen;
}
