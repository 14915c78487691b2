/** Strings that stay in memory for long. */

/** V8 makes a slice of a longer string from this length on. A shorter one is copied. */
const LEAST_SLICE = 13;
/** A longer string is a large part of its frame, and a copy would take time. */
const MOST_COPIED = 1_024;

/**
 * Returns an equal string, up to a length with characters of its own. The decoder of frames makes slices, and each slice keeps the text
 * of its whole frame in memory.
 */
export function ownText(text: string): string {
  const isCopied = text.length >= LEAST_SLICE && text.length <= MOST_COPIED;
  return isCopied ? (JSON.parse(JSON.stringify(text)) as string) : text;
}
