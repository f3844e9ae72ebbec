// What became of the mentions of a message, read once and then kept current by events.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { api } from "@/api/client";
import type { Message, Receipt } from "@shoal-dev/client";
import { useConsole } from "@/app/console";
import { useLive } from "@/live/hooks";

/** The receipts of a message, once they are read, which they are not before `wanted`. */
export function useReceipts(message: Message, wanted: boolean) {
  const { session } = useConsole();
  const store = useLive();
  const queries = useQueryClient();
  const key = [session, "receipts", message.id, message.deletedAt];
  const found = useQuery({
    queryKey: key,
    enabled: wanted,
    staleTime: Infinity,
    queryFn: async () => (await api.GET("/v1/sessions/{session}/messages/{message}/deliveries", { params: { path: { session, message: message.id } } })).items,
  });
  useEffect(
    () =>
      store.tap((event) => {
        if (event.type === "delivery.updated" && event.messageId === message.id) queries.setQueryData(key, event.deliveries);
        // Events of receipts that were missed are not sent again.
        if (event.type === "local.restarted") void queries.invalidateQueries({ queryKey: key });
      }),
    [store, queries, ...key],
  );
  return found;
}

const words: Record<string, readonly [mark: string, state: string]> = {
  sent: ["○", "not delivered"],
  delivered: ["◐", "delivered"],
  resumed: ["●", "acknowledged"],
  answered: ["✓", "answered"],
  failed: ["✕", "failed"],
};

/** The mark of a receipt, and its meaning in words. */
export function describe(receipt: Receipt): { mark: string; words: string } {
  const [mark, state] = words[receipt.state] ?? ["", receipt.state];
  return { mark, words: [state, receipt.text].filter((text) => text !== "").join(": ") };
}
