// Offsets of streamed text count UTF-8 bytes (contract, section 4); strings of
// JavaScript count UTF-16 units.

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** How many bytes of UTF-8 a text has. */
export function byteLength(text: string): number {
  let n = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c < 0x80) n++;
    else if (c < 0x800) n += 2;
    else if (c >= 0xd800 && c < 0xdc00) {
      n += 4;
      i++;
    } else n += 3;
  }
  return n;
}

/** The text from byte `from` up to, not including, byte `to`. */
export function byteSlice(text: string, from: number, to?: number): string {
  return decoder.decode(encoder.encode(text).subarray(from, to));
}
