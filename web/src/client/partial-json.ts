// Arguments of a tool call while the model still writes them.

/**
 * The members of a JSON object that are whole in the beginning of its text. A
 * string, number, array or object that has begun but not ended is left out, so
 * nothing that is shown changes its meaning later. Text that is no object gives {}.
 */
export function wholeMembers(text: string): Record<string, unknown> {
  const end = lastWholeMember(text);
  if (end === 0) return {};
  try {
    const value: unknown = JSON.parse(text.slice(0, end) + "}");
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

// The end of the last member of the outermost object: before the comma behind it,
// or before the brace that closes the object.
function lastWholeMember(text: string): number {
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
