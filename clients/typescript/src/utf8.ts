// Offsets in streamed text count UTF-8 bytes, while JavaScript strings count UTF-16 code
// units.

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** The length of a text in UTF-8 bytes. */
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

/** The part of a text from byte `from` up to, but not including, byte `to`. */
export function byteSlice(text: string, from: number, to?: number): string {
  return decoder.decode(encoder.encode(text).subarray(from, to));
}
