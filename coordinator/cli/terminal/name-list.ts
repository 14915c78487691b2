/** A list of names in one line of a terminal. */

/** Keeps lines readable. `-o json` prints all names. */
const MOST_NAMES = 20;

/** Returns the first names, and how many are left out. */
export function namesText(names: readonly string[]): string {
  const shown = names.slice(0, MOST_NAMES).join(', ');
  const hidden = names.length - MOST_NAMES;
  return hidden > 0 ? `${shown} and ${hidden} more (-o json names all)` : shown;
}
