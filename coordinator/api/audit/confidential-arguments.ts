/**
 * Finds confidential values of short options: `mysql -phunter2` and `curl -u ann:hunter2`. The name of such an option is
 * no word, so its value decides. Strict: a value of `-p` that is no port, path or known word is confidential. Pure.
 */

/**
 * What follows `-p` in options that are not a password: the rest of a long option with one dash (`-path=/x`), or letters
 * of a group (`cp -pr`).
 */
const REST_OF_OPTION =
  /^(?:[rR]|arallel(?:ism)?|arams?|arent|atch|aths?|atterns?|ause|eers?|er[fm]|ersist|ids?|id-?file|ing|ipe|latform|lugins?|od|ods|oll|olicy|ool|orts?|refix|retty|rint[0f]?|riority|rivileged|rofiles?|roject|romiscuous|rotocol|rovider|roxy|rune|ublish|ull|ush)(?:[=.,:_-].*)?$/;
/** A port, a range, a mapping of ports with or without an address, or a number such as a process id. */
const PORTS = /^[=:]?(?:\d{1,3}(?:\.\d{1,3}){3}:)?\d+(?:[:,/-]\d+)*(?:\/(?:tcp|udp))?$/;
const PATH = /^=?(?:[./~]|\$[{(\w])/;

/** `-p` at the start of a word, and what is attached to it. */
const ATTACHED_P = /(?<![^\s"'=(])-p["']?([^\s"']+)/g;
/** `-u NAME:PASSWORD`, also attached or as `--user`. Numbers are ids of users and groups. */
const USER_PASSWORD =
  /(?<![^\s"'=(])(?:-u\s*|--user[=\s]\s*)["']?(?!\d+:\d+(?:[\s"']|$))[^\s"':/=]+:(?!\/\/)[^\s"']+/;

/** True if a text, such as a command line or a script, has an option with a confidential value. */
export function hasConfidentialOption(text: string): boolean {
  if (USER_PASSWORD.test(text)) return true;
  for (const [, value = ''] of text.matchAll(ATTACHED_P)) if (!isHarmless(value)) return true;
  return false;
}

/**
 * True if `item` is the confidential value of the option before it in a list of arguments: `-p`, `hunter2` or `-u`,
 * `ann:hunter2`.
 */
export function isConfidentialArgument(option: unknown, item: unknown): boolean {
  if (typeof item !== 'string') return false;
  if (option === '-p') return !item.startsWith('-') && !isHarmless(item);
  return (option === '-u' || option === '--user') && USER_PASSWORD.test(`-u ${item}`);
}

function isHarmless(value: string): boolean {
  return REST_OF_OPTION.test(value) || PORTS.test(value) || PATH.test(value);
}
