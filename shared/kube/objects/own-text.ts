/** Strings that stay in memory for long. */

/** V8 makes a slice of a longer string from this length on. A shorter one is copied. */
const LEAST_SLICE = 13;

/**
 * Returns an equal string with characters of its own. The decoder of frames makes slices, and each slice keeps the text
 * of its whole frame in memory.
 */
export function ownText(text: string): string {
  return text.length < LEAST_SLICE ? text : (JSON.parse(JSON.stringify(text)) as string);
}
