/**
 * Finds confidential values of short options: `mysql -phunter2` and `curl -u ann:hunter2`. The name of such an option is
 * no word, so its value decides. Strict: a value of `-p` that is no port, path or known word is confidential. Pure.
 *
 * Users write the searched texts, and a write has up to 16 KiB of them in each of many fields. So the search looks at
 * each `-` once, and from there at a limited number of characters: it must not go through the same text again for each
 * option in it.
 */

/** An option begins at the start of a text or behind one of these. */
const BEFORE_OPTION = /[\s"'=([;|&<>`]/;
/** The end of a value that is not quoted. Without a shell, `;` can be a part of a password: `-p80;hunter2`. */
const END = '(?=[;|&)\\]}]*(?:[\\s"\']|$))';
/** The end of a quoted value. Other characters, such as `;`, can be a part of it. */
const END_OF_QUOTED = '(?=["\']|$)';

/**
 * What follows `-p` in options that are not a password: the rest of a long option with one dash (`-path=/x`), or letters
 * of a group (`cp -pr`).
 */
const REST_OF_OPTION =
  '(?:[rR]|arallel(?:ism)?|arams?|arent|atch|aths?|atterns?|ause|eers?|er[fm]|ersist|ids?|id-?file|ing|ipe|latform|lugins?|od|ods|oll|olicy|ool|orts?|refix|retty|rint[0f]?|riority|rivileged|rofiles?|roject|romiscuous|rotocol|rovider|roxy|rune|ublish|ull|ush)';
/** A port, a range, a mapping of ports with or without an address, or a number such as a process id. */
const PORTS = '[=:]?(?:\\d{1,3}(?:\\.\\d{1,3}){3}:)?\\d+(?:[:,/-]\\d+)*(?:\\/(?:tcp|udp))?';
/** The start of a path or of a reference: `${port}`, `$(port)` or `$PORT`, but not the password `$ecret1`. */
const PATH = '=?(?:[./~]|\\$[{(]|\\$[A-Z_][A-Z0-9_]*(?!\\w))';
const harmless = (end: string) =>
  new RegExp(`${REST_OF_OPTION}(?:[=.,:_-]|${end})|${PORTS}${end}|${PATH}`, 'y');
const HARMLESS = { plain: harmless(END), quoted: harmless(END_OF_QUOTED) };

/** Between an option and its value in a list that is a text: `"-p", "x"`, `[-p, x]`, or two lines of YAML. */
const NEXT_ITEM = /(?:["']\s*,|,(?=\s)|["']?[ \t]*\r?\n[ \t]*-(?=[ \t]))\s*(["']?)/y;
const QUOTE = /["']/y;
/** `mkdir -p`, also at the end of a command or of a list. */
const NO_VALUE = /(?:["']?[\]})]*|[;|&)]+["']?)(?:\s|$)/y;

/** An option whose value is in the next word, alone or as the last one of a group: `curl -fsSu ann:hunter2`. */
const USER_OPTION = /(?:--(?:proxy-)?user|-[A-Za-z0-9#]{0,7}[uU])(?![\w.-])/y;
const GAP = /["']?(?:\s*,|\s*\\(?=\s)|=|\s+-(?=\s))?\s*(["']?)/y;
/** The same with its value in the same word, after options of curl that have no value: `-sSuann:hunter2`. */
const ATTACHED_USER = /-[fgGiIjJkLlNnOqRsSvZ#0-6]{0,7}[uU](["']?)(?=\S)/y;
/** A character of a user name. `-u` before an address, an image or `x=` belongs to another program than curl. */
const OF_NAME = '(?:\\\\\\s|[^\\s"\':/=])';
const OF_QUOTED_NAME = '[^"\':/=\\n]';
/** NAME:PASSWORD, or a text that is too long for a name. Not ids of users and groups, and no `date -u +%H:%M`. */
const userPassword = (ofName: string, end: string) =>
  new RegExp(`(?!\\d+:\\d*${end}|\\+%)(?:${ofName}{1,64}["']?:(?!//)|${ofName}{64})`, 'y');
const USER_PASSWORD = {
  plain: userPassword(OF_NAME, END),
  quoted: userPassword(OF_QUOTED_NAME, END_OF_QUOTED),
};
/** An item behind `-p` that is an option and no password: `-v`, `-rf`, `--verbose`. */
const OPTION = /^-(?:[A-Za-z]{0,3}|-[a-z][a-z0-9-]*(?:=.*)?)$/s;

/** True if a text, such as a command line or a script, has an option with a confidential value. */
export function hasConfidentialOption(text: string): boolean {
  for (let at = text.indexOf('-'); at >= 0; at = text.indexOf('-', at + 1)) {
    if (at > 0 && !BEFORE_OPTION.test(text.charAt(at - 1))) continue;
    if (hasPassword(text, at) || hasUserPassword(text, at)) return true;
  }
  return false;
}

/**
 * True if `item` is the confidential value of the option before it in a list of arguments: `-p`, `hunter2` or `-sSu`,
 * `ann:hunter2`.
 */
export function isConfidentialArgument(option: unknown, item: unknown): boolean {
  if (typeof option !== 'string' || typeof item !== 'string') return false;
  if (option === '-p') return !isOption(item) && !matchesAt(HARMLESS.quoted, item, 0);
  return endOf(USER_OPTION, option, 0) === option.length && matchesAt(USER_PASSWORD.quoted, item, 0);
}

function isOption(item: string): boolean {
  return OPTION.test(item) || (item.startsWith('-p') && matchesAt(HARMLESS.quoted, item, 2));
}

/** True if `-p` and a password begin at this dash. */
function hasPassword(text: string, dash: number): boolean {
  if (text.charAt(dash + 1) !== 'p') return false;
  const next = valueBehind(NEXT_ITEM, text, dash + 2);
  if (next) return !isHarmless(text, next);
  if (matchesAt(NO_VALUE, text, dash + 2)) return false;
  const isQuoted = matchesAt(QUOTE, text, dash + 2);
  return !isHarmless(text, { at: dash + (isQuoted ? 3 : 2), isQuoted });
}

function isHarmless(text: string, { at, isQuoted }: Value): boolean {
  return matchesAt(isQuoted ? HARMLESS.quoted : HARMLESS.plain, text, at);
}

/** True if an option of a user, and a name with a password, begin at this dash. */
function hasUserPassword(text: string, dash: number): boolean {
  const end = endOf(USER_OPTION, text, dash);
  const values = [
    end === undefined ? undefined : valueBehind(GAP, text, end),
    valueBehind(ATTACHED_USER, text, dash),
  ];
  return values.some((value) => value && isUserPassword(text, value));
}

function isUserPassword(text: string, { at, isQuoted }: Value): boolean {
  return matchesAt(isQuoted ? USER_PASSWORD.quoted : USER_PASSWORD.plain, text, at);
}

/** The start of a value in a text. */
interface Value {
  at: number;
  isQuoted: boolean;
}

/** Returns the value behind `gap`, whose group is the quote before the value. */
function valueBehind(gap: RegExp, text: string, at: number): Value | undefined {
  gap.lastIndex = at;
  const found = gap.exec(text);
  return found ? { at: gap.lastIndex, isQuoted: Boolean(found[1]) } : undefined;
}

function endOf(pattern: RegExp, text: string, at: number): number | undefined {
  return matchesAt(pattern, text, at) ? pattern.lastIndex : undefined;
}

function matchesAt(pattern: RegExp, text: string, at: number): boolean {
  pattern.lastIndex = at;
  return pattern.test(text);
}
