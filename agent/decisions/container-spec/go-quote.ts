/** Text as Go's `%q` writes it (strconv.Quote): downward API files quote labels and annotations with it. */

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

/** What Go calls printable: letters, marks, numbers, punctuation, symbols and the ASCII space. */
const PRINTABLE = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u;

/** The text in double quotes, what cannot be printed written as an escape. */
export function goQuote(text: string): string {
  return `"${[...text].map(quoteCharacter).join('')}"`;
}

function quoteCharacter(character: string): string {
  const short = ESCAPES[character];
  if (short) return short;
  if (PRINTABLE.test(character)) return character;
  const code = character.codePointAt(0) ?? 0;
  const hex = code.toString(16);
  // Bytes below 0x80 are written alone; above, all are code points.
  if (code < 0x80) return `\\x${hex.padStart(2, '0')}`;
  return code < 0x10000 ? `\\u${hex.padStart(4, '0')}` : `\\U${hex.padStart(8, '0')}`;
}
