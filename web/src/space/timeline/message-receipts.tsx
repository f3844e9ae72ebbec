// What became of each mention of an agent, with the times.
import type { Message, Receipt } from "@shoal-dev/client";
import { useName } from "@/live/hooks";
import { Dialog } from "@/ui/dialog";
import { Failed, Loading } from "@/ui/placeholder";
import { duration, Moment } from "@/ui/time";
import { describe, useReceipts } from "./receipts";

/** A dialog with the receipts of a message. */
export function MessageReceipts({ message, onClose }: { message: Message; onClose: () => void }) {
  const receipts = useReceipts(message, true);
  return (
    <Dialog open onClose={onClose} title="Receipts" about="What became of each mention of an agent. People have no receipts.">
      {receipts.isPending && <Loading />}
      {receipts.isError && <Failed error={receipts.error} retry={() => void receipts.refetch()} />}
      {receipts.data?.length === 0 && <p className="text-soft">This message mentions no agent.</p>}
      <ul className="flex flex-col gap-3">
        {receipts.data?.map((receipt) => (
          <Item key={receipt.entityId} receipt={receipt} since={message.createdAt} />
        ))}
      </ul>
    </Dialog>
  );
}

function Item({ receipt, since }: { receipt: Receipt; since: string }) {
  const name = useName(receipt.entityId);
  const is = describe(receipt);
  const steps = [
    ["Delivered", receipt.deliveredAt],
    ["Acknowledged", receipt.resumedAt],
    ["Answered", receipt.answeredAt],
  ] as const;
  return (
    <li className="border-l-2 border-line pl-3">
      <p className="font-medium">@{name}</p>
      <p className="wrap-anywhere">
        <span aria-hidden>{is.mark}</span> {is.words}
      </p>
      <ul className="text-sm text-soft">
        {steps.map(
          ([step, at]) =>
            at !== null && (
              <li key={step}>
                {step} <Moment at={at} />, after {duration(Date.parse(at) - Date.parse(since))}
              </li>
            ),
        )}
      </ul>
    </li>
  );
}
