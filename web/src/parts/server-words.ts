// What the server itself says in a space. Its messages are written for programs, too, which
// call a space a thread.

/** The text of a message as people read it; only the server's own differ. */
export const wordsOf = (by: string, text: string): string => (by === "system" ? text.replace(/^Thread closed:/, "Space closed:") : text);
