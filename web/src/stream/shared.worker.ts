// The SharedWorker: one switchboard for all tabs of the browser.
import { type Answer, type Asked, Switchboard } from "./switchboard";

const board = new Switchboard();

self.addEventListener("connect", (event) => {
  const port = (event as MessageEvent).ports[0];
  if (port === undefined) return;
  const post = (answer: Answer) => port.postMessage(answer);
  port.onmessage = (message: MessageEvent<Asked>) => board.handle(post, message.data);
  port.start();
});

setInterval(() => board.sweep(), 60_000);
