// Arguments of a tool call while the model writes them.

/**
 * The members of a JSON object that are complete in a prefix of its text. A value that has
 * begun but not ended is left out, so that nothing shown changes later. Returns {} for text
 * that is not an object.
 */
export function completeMembers(text: string): Record<string, unknown> {
  const end = endOfLastMember(text);
  if (end === 0) return {};
  try {
    const value: unknown = JSON.parse(text.slice(0, end) + "}");
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

// The offset of the comma after the last complete member of the outermost object, or of the
// brace that closes the object.
function endOfLastMember(text: string): number {
  let depth = 0;
  let quoted = false;
  let end = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text[i];
    if (quoted) {
      if (c === "\\") i++;
      else if (c === '"') quoted = false;
      continue;
    }
    if (c === '"') quoted = true;
    else if (c === "{" || c === "[") depth++;
    else if (c === "}" || c === "]") {
      depth--;
      if (depth === 0) return i;
    } else if (c === "," && depth === 1) end = i;
  }
  return end;
}
