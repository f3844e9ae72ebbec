// Server-sent events out of a byte stream, by the WHATWG's rules. The parser keeps
// its state between chunks: an event, a line or a character may be cut anywhere.

/** One event as it came. */
export interface SentEvent {
  readonly id: string | undefined;
  readonly type: string;
  readonly data: string;
}

/** A parser of one stream. */
export class EventParser {
  private readonly decoder = new TextDecoder();
  private held: string[] = [];
  private rest = "";
  private halfEnd = false;
  private id: string | undefined;
  private type = "";
  private data: string[] = [];

  /** The events that are whole with these bytes. */
  feed(bytes: Uint8Array): SentEvent[] {
    const out: SentEvent[] = [];
    const text = this.decoder.decode(bytes, { stream: true });
    this.held.push(text);
    // A line may be megabytes: it is put together and searched once, when it ends.
    if (!this.halfEnd && !/[\r\n]/.test(text)) return out;
    this.rest = this.held.join("");
    this.read(out);
    this.held = [this.rest];
    this.halfEnd = this.rest.endsWith("\r");
    return out;
  }

  private read(out: SentEvent[]): void {
    for (;;) {
      const line = this.line();
      if (line === undefined) return;
      if (line !== "") this.field(line);
      else if (this.data.length > 0 || this.type !== "") out.push(this.event());
    }
  }

  // The next whole line. A carriage return at the end of what is here may be the
  // first half of a line end.
  private line(): string | undefined {
    const at = this.rest.search(/[\r\n]/);
    if (at < 0 || (this.rest[at] === "\r" && at === this.rest.length - 1)) return undefined;
    const line = this.rest.slice(0, at);
    this.rest = this.rest.slice(at + (this.rest[at] === "\r" && this.rest[at + 1] === "\n" ? 2 : 1));
    return line;
  }

  private field(line: string): void {
    const colon = line.indexOf(":");
    if (colon === 0) return; // a comment: the heartbeat
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (name === "data") this.data.push(value);
    else if (name === "event") this.type = value;
    else if (name === "id") this.id = value;
  }

  private event(): SentEvent {
    const event = { id: this.id, type: this.type === "" ? "message" : this.type, data: this.data.join("\n") };
    this.type = "";
    this.data = [];
    return event;
  }
}
