/** Quotes text like Go's `%q` (strconv.Quote), which downward API files use for labels and annotations. */

const ESCAPES: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\u0007': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
};

/** Printable characters in Go: letters, marks, numbers, punctuation, symbols and the ASCII space. */
const PRINTABLE = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u;

/** Returns the text in double quotes, with escapes for unprintable characters. */
export function goQuote(text: string): string {
  return `"${[...text].map(quoteCharacter).join('')}"`;
}

function quoteCharacter(character: string): string {
  const short = ESCAPES[character];
  if (short) return short;
  if (PRINTABLE.test(character)) return character;
  const code = character.codePointAt(0) ?? 0;
  const hex = code.toString(16);
  // Bytes below 0x80 are escaped as bytes, everything above as code points.
  if (code < 0x80) return `\\x${hex.padStart(2, '0')}`;
  return code < 0x10000 ? `\\u${hex.padStart(4, '0')}` : `\\U${hex.padStart(8, '0')}`;
}
