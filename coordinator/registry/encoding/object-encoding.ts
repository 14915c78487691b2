/** How an object lies in the store, and how its revision gets into it on the way out. */
import type { KubeObject, ObjectMeta } from '../../../shared/kube/objects/meta.js';

const METADATA_OPENING = Buffer.from('"metadata":{');
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** What Go writes escaped: kubectl compares a revision's bytes with those it would write itself. */
const ESCAPED_BY_GO = /[<>&\u2028\u2029]/g;

function goEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** Where the status begins in values that were encoded here. */
const statusOffsets = new WeakMap<Buffer, number>();

/** Few texts have any of them, and looking for each is ten times as fast as the pattern. */
function asGoWrites(json: string): string {
  const isPlain =
    !json.includes('<') &&
    !json.includes('>') &&
    !json.includes('&') &&
    !json.includes('\u2028') &&
    !json.includes('\u2029');
  return isPlain ? json : json.replace(ESCAPED_BY_GO, goEscape);
}

/**
 * Compact JSON that begins with apiVersion, kind and metadata, without resourceVersion, and ends with the status: the
 * form of a stored value.
 */
export function encodeObject(object: KubeObject & { status?: unknown }): Buffer {
  return object.status === undefined ? ownBytes(wholeOf(object)) : join(headOf(object), tailOf(object));
}

/**
 * The same of several, in one piece of memory: that costs a third of as many small ones. For what goes together as well, as
 * Events do, since one of them that stays keeps all.
 */
export function encodeTogether(objects: readonly (KubeObject & { status?: unknown })[]): Buffer[] {
  const texts = objects.map((object) =>
    object.status === undefined ? wholeOf(object) : headOf(object) + tailOf(object),
  );
  const ends: number[] = [];
  let length = 0;
  for (const text of texts) {
    length += Buffer.byteLength(text);
    ends.push(length);
  }
  const all = Buffer.allocUnsafeSlow(length);
  all.write(texts.join(''));
  return ends.map((end, index) => all.subarray(ends[index - 1] ?? 0, end));
}

/** `object`, which differs from the one stored in nothing but its status: only that is encoded. */
export function encodeNewStatus(stored: Buffer, object: KubeObject & { status?: unknown }): Buffer {
  const offset = statusOffsets.get(stored);
  if (offset === undefined) return encodeObject(object);
  const tail = tailOf(object);
  const encoded = Buffer.allocUnsafeSlow(offset + Buffer.byteLength(tail));
  stored.copy(encoded, 0, 0, offset);
  encoded.write(tail, offset);
  statusOffsets.set(encoded, offset);
  return encoded;
}

/** All but the status. */
function wholeOf(object: KubeObject & { status?: unknown }): string {
  const { apiVersion, kind, metadata, status: _status, ...rest } = object;
  const { resourceVersion: _known, ...stored } = metadata;
  return asGoWrites(JSON.stringify({ apiVersion, kind, metadata: stored, ...rest }));
}

/** All but the status and the closing brace. */
function headOf(object: KubeObject & { status?: unknown }): string {
  return wholeOf(object).slice(0, -1);
}

function tailOf({ status }: { status?: unknown }): string {
  return status === undefined ? '}' : `,"status":${asGoWrites(JSON.stringify(status))}}`;
}

function join(head: string, tail: string): Buffer {
  const encoded = ownBytes(head + tail);
  statusOffsets.set(encoded, encoded.length - Buffer.byteLength(tail));
  return encoded;
}

/** In memory of its own: a value lives for long, and in a pool it would keep 8 KiB of its short-lived neighbours. */
function ownBytes(text: string): Buffer {
  const encoded = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  encoded.write(text);
  return encoded;
}

/** An object encoded once, to be filled many times: some of its texts are holes. */
export class EncodedObject {
  readonly #pieces: string[] = [];
  /** Which hole follows each piece but the last. */
  readonly #holes: string[] = [];
  readonly #tail: string;

  /** `holes`: the text that stands in the object for each; a hole is a whole text, and none is in the status. */
  constructor(object: KubeObject & { status?: unknown }, holes: Readonly<Record<string, string>>) {
    const names = new Map(Object.entries(holes).map(([name, text]) => [JSON.stringify(text), name]));
    this.#tail = tailOf(object);
    let head = headOf(object);
    for (let next = firstOf(names.keys(), head); next; next = firstOf(names.keys(), head)) {
      this.#pieces.push(head.slice(0, next.at));
      this.#holes.push(names.get(next.text) ?? '');
      head = head.slice(next.at + next.text.length);
    }
    this.#pieces.push(head);
  }

  /** What encoding the object with these texts in its holes gives. */
  fill(texts: Readonly<Record<string, string>>): Buffer {
    let head = this.#pieces[0] ?? '';
    for (const [index, hole] of this.#holes.entries()) {
      head += asGoWrites(JSON.stringify(texts[hole])) + this.#pieces[index + 1];
    }
    return join(head, this.#tail);
  }
}

/** Which of the texts comes first, and where. */
function firstOf(texts: Iterable<string>, within: string): { text: string; at: number } | undefined {
  let first: { text: string; at: number } | undefined;
  for (const text of texts) {
    const at = within.indexOf(text);
    if (at >= 0 && (!first || at < first.at)) first = { text, at };
  }
  return first;
}

/** A stored value with `resourceVersion` in its metadata: what clients get. */
export function spliceResourceVersion(stored: Buffer, revision: number): Buffer {
  const spliced = new SplicedValue(stored, revision);
  const bytes = Buffer.allocUnsafe(spliced.length);
  spliced.copyTo(bytes, 0);
  return bytes;
}

/** The same without the bytes: a list copies each value once, to where it is sent from. */
export class SplicedValue {
  readonly #stored: Buffer;
  readonly #at: number;
  readonly #text: string;
  readonly length: number;

  constructor(stored: Buffer, revision: number) {
    this.#stored = stored;
    this.#at = metadataStart(stored);
    const separator = stored[this.#at] === CLOSING_BRACE ? '' : ',';
    this.#text = `"resourceVersion":"${revision}"${separator}`;
    this.length = stored.length + this.#text.length;
  }

  copyTo(target: Buffer, offset: number): void {
    this.#stored.copy(target, offset, 0, this.#at);
    target.write(this.#text, offset + this.#at, 'latin1');
    this.#stored.copy(target, offset + this.#at + this.#text.length, this.#at);
  }
}

/**
 * Where metadata began when it was last asked for: most values that follow one another are of one kind. In one of another kind
 * the place lies within the kind's name or within its metadata, and there these bytes cannot stand.
 */
let lastStart = METADATA_OPENING.length;

/** The index behind the brace that opens the metadata. */
function metadataStart(stored: Buffer): number {
  const opening = lastStart - METADATA_OPENING.length;
  // By hand: a call into the library takes longer than these few bytes.
  let same = 0;
  while (same < METADATA_OPENING.length && stored[opening + same] === METADATA_OPENING[same]) same += 1;
  if (same === METADATA_OPENING.length) return lastStart;
  lastStart = stored.indexOf(METADATA_OPENING) + METADATA_OPENING.length;
  return lastStart;
}

/** Decodes the metadata alone: a fraction of an object, and all that a label selector looks at. */
export function decodeMetadata(stored: Buffer): ObjectMeta {
  const start = metadataStart(stored) - 1;
  return JSON.parse(stored.toString('utf8', start, endOfMap(stored, start)));
}

/** The index after the brace that closes the map beginning at `start`. */
function endOfMap(json: Buffer, start: number): number {
  let depth = 0;
  for (let at = start; at < json.length; at += 1) {
    const byte = json[at];
    if (byte === QUOTE) at = endOfString(json, at);
    else if (byte === OPENING_BRACE) depth += 1;
    else if (byte === CLOSING_BRACE) depth -= 1;
    if (depth === 0) return at + 1;
  }
  return json.length;
}

/** The index of the quote that closes the string opened at `start`. */
function endOfString(json: Buffer, start: number): number {
  let at = json.indexOf(QUOTE, start + 1);
  while (at >= 0 && isEscaped(json, at)) at = json.indexOf(QUOTE, at + 1);
  return at < 0 ? json.length : at;
}

function isEscaped(json: Buffer, quote: number): boolean {
  let backslashes = 0;
  while (json[quote - 1 - backslashes] === BACKSLASH) backslashes += 1;
  return backslashes % 2 === 1;
}
