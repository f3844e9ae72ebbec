// The worker: one switchboard for all tabs of the browser, or for one tab where the browser
// has no SharedWorker.
import { transport } from "@/api/transport";
import { Switchboard, type TabRequest, type TabUpdate } from "./switchboard";

type Port = Pick<MessagePort, "postMessage" | "onmessage">;

const board = new Switchboard(transport);

function serve(port: Port): void {
  const post = (update: TabUpdate) => port.postMessage(update);
  port.onmessage = (message: MessageEvent<TabRequest>) => board.handle(post, message.data);
}

if ("onconnect" in self) {
  self.addEventListener("connect", (event) => {
    const port = (event as MessageEvent).ports[0];
    if (port !== undefined) serve(port);
  });
} else {
  serve(self as unknown as Port);
}

setInterval(() => board.sweep(), 60_000);
