/** Names by pattern: `*` stands for any run of characters, everything else for itself. */

/** Takes time in proportion to the two lengths, whatever the pattern. */
export function matchesPattern(pattern: string, name: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop();
  if (last === undefined) return name === pattern;
  if (!name.startsWith(first) || name.length < first.length + last.length || !name.endsWith(last))
    return false;
  let from = first.length;
  const end = name.length - last.length;
  for (const part of rest) {
    const found = name.indexOf(part, from);
    if (found < 0 || found + part.length > end) return false;
    from = found + part.length;
  }
  return true;
}
