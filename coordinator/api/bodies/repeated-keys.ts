/**
 * Finds keys that occur twice in one JSON object. `JSON.parse` keeps the last value and does not report them. Like
 * sigs.k8s.io/json `DisallowDuplicateFields`.
 */

export interface RepeatedKey {
  /** E.g. `spec.containers[0].image`. */
  path: string;
  key: string;
  /** Line of its second value, starting at 1. */
  line: number;
}

/** kube-apiserver's limit. */
const MAX_FINDINGS = 100;
/** Limit for all paths together, because each may be as long as the body. */
const MAX_PATH_CHARACTERS = 64 * 1024;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const NEW_LINE = 0x0a;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const WHITE_SPACE_AND_COLON = new Set([0x20, 0x09, 0x0a, 0x0d, 0x3a]);

/** An open object or list. `place` is the current key or index in it. */
type Level =
  | { type: 'object'; keys: Keys; place: string; expectsKey: boolean }
  | { type: 'list'; place: number };

export class Keys {
  readonly #seen = new Map<string, number>();

  /** True for the second occurrence of a key. Later ones are not reported again. */
  isRepeated(key: string): boolean {
    const count = (this.#seen.get(key) ?? 0) + 1;
    this.#seen.set(key, count);
    return count === 2;
  }
}

/** The repeated keys that were found, up to the limits. */
export class RepeatedKeyList {
  readonly #found: RepeatedKey[] = [];
  #characters = 0;

  get isFull(): boolean {
    return this.#found.length >= MAX_FINDINGS || this.#characters > MAX_PATH_CHARACTERS;
  }

  /** `line` is called only if the key is added. */
  add(places: readonly (string | number)[], line: () => number): void {
    if (this.isFull) return;
    const path = pathOf(places);
    this.#characters += path.length;
    this.#found.push({ path, key: String(places.at(-1)), line: line() });
  }

  all(): RepeatedKey[] {
    return this.#found;
  }
}

function pathOf(places: readonly (string | number)[]): string {
  const text = places.map((place) => (typeof place === 'number' ? `[${place}]` : `.${place}`)).join('');
  return text.startsWith('.') ? text.slice(1) : text;
}

/** Returns the index of the closing quote of the string that starts at `start`. */
function endOfString(bytes: Buffer, start: number): number {
  for (let end = bytes.indexOf(QUOTE, start + 1); ; end = bytes.indexOf(QUOTE, end + 1)) {
    if (end < 0) return bytes.length;
    let backslashes = 0;
    while (bytes[end - 1 - backslashes] === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return end;
  }
}

function textOfString(bytes: Buffer, start: number, end: number): string {
  const raw = bytes.toString('utf8', start + 1, end);
  return raw.includes('\\') ? JSON.parse(`"${raw}"`) : raw;
}

function lineOfValue(bytes: Buffer, endOfKey: number): number {
  let at = endOfKey + 1;
  while (WHITE_SPACE_AND_COLON.has(bytes[at] ?? 0)) at += 1;
  let line = 1;
  for (let end = bytes.indexOf(NEW_LINE); end >= 0 && end < at; end = bytes.indexOf(NEW_LINE, end + 1)) {
    line += 1;
  }
  return line;
}

/** Returns the repeated keys in the order of the text. `bytes` must be valid JSON. */
export function repeatedKeysOfJson(bytes: Buffer): RepeatedKey[] {
  const levels: Level[] = [];
  const found = new RepeatedKeyList();
  for (let at = 0; at < bytes.length && !found.isFull; at += 1) {
    const top = levels.at(-1);
    switch (bytes[at]) {
      case OPEN_OBJECT:
        levels.push({ type: 'object', keys: new Keys(), place: '', expectsKey: true });
        break;
      case OPEN_LIST:
        levels.push({ type: 'list', place: 0 });
        break;
      case CLOSE_OBJECT:
      case CLOSE_LIST:
        levels.pop();
        break;
      case COMMA:
        if (top?.type === 'list') top.place += 1;
        else if (top) top.expectsKey = true;
        break;
      case QUOTE: {
        const end = endOfString(bytes, at);
        if (top?.type === 'object' && top.expectsKey) {
          top.expectsKey = false;
          top.place = textOfString(bytes, at, end);
          if (top.keys.isRepeated(top.place)) {
            found.add(
              levels.map(({ place }) => place),
              () => lineOfValue(bytes, end),
            );
          }
        }
        at = end;
      }
    }
  }
  return found.all();
}
