// A parser of server-sent events, as the WHATWG specifies them. It keeps its state between
// chunks: an event, a line or a character may be split anywhere.

/** One event of a stream. */
export interface SentEvent {
  readonly id: string | undefined;
  readonly type: string;
  readonly data: string;
}

/** A parser of one stream. */
export class EventParser {
  private readonly decoder = new TextDecoder();
  private chunks: string[] = [];
  private rest = "";
  private endsWithCR = false;
  private id: string | undefined;
  private type = "";
  private data: string[] = [];

  /** Returns the events that these bytes complete. */
  feed(bytes: Uint8Array): SentEvent[] {
    const out: SentEvent[] = [];
    const text = this.decoder.decode(bytes, { stream: true });
    this.chunks.push(text);
    // A line may have megabytes: join and search its chunks once, when it ends.
    if (!this.endsWithCR && !/[\r\n]/.test(text)) return out;
    this.rest = this.chunks.join("");
    this.readLines(out);
    this.chunks = [this.rest];
    this.endsWithCR = this.rest.endsWith("\r");
    return out;
  }

  private readLines(out: SentEvent[]): void {
    for (;;) {
      const line = this.nextLine();
      if (line === undefined) return;
      if (line !== "") this.readField(line);
      else if (this.data.length > 0 || this.type !== "") out.push(this.endEvent());
    }
  }

  // The next complete line. A carriage return at the end may be the first half of a CR LF.
  private nextLine(): string | undefined {
    const at = this.rest.search(/[\r\n]/);
    if (at < 0 || (this.rest[at] === "\r" && at === this.rest.length - 1)) return undefined;
    const line = this.rest.slice(0, at);
    this.rest = this.rest.slice(at + (this.rest[at] === "\r" && this.rest[at + 1] === "\n" ? 2 : 1));
    return line;
  }

  private readField(line: string): void {
    const colon = line.indexOf(":");
    if (colon === 0) return; // a comment: the heartbeat
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (name === "data") this.data.push(value);
    else if (name === "event") this.type = value;
    else if (name === "id") this.id = value;
  }

  private endEvent(): SentEvent {
    const event = { id: this.id, type: this.type === "" ? "message" : this.type, data: this.data.join("\n") };
    this.type = "";
    this.data = [];
    return event;
  }
}
