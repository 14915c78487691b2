/** The stored form of objects, and the insertion of resourceVersion when a value is read. */
import type { KubeObject, ObjectMeta } from '../../../shared/kube/objects/meta.js';

const METADATA_OPENING = Buffer.from('"metadata":{');
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Characters that Go escapes. kubectl compares the bytes of a ControllerRevision with bytes that it encodes itself. */
const ESCAPED_BY_GO = /[<>&\u2028\u2029]/g;

function goEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** The offset of the status in values that were encoded here. */
const statusOffsets = new WeakMap<Buffer, number>();

/** Few texts contain these characters, and five `includes` are ten times as fast as the regular expression. */
function asGoWrites(json: string): string {
  const isPlain =
    !json.includes('<') &&
    !json.includes('>') &&
    !json.includes('&') &&
    !json.includes('\u2028') &&
    !json.includes('\u2029');
  return isPlain ? json : json.replace(ESCAPED_BY_GO, goEscape);
}

/** Returns the stored form: compact JSON that begins with apiVersion, kind, metadata and ends with the status. */
export function encodeObject(object: KubeObject & { status?: unknown }): Buffer {
  return object.status === undefined ? ownBytes(wholeOf(object)) : join(headOf(object), tailOf(object));
}

/** Encodes `object`, which differs from the stored one only in its status, by replacing the status bytes. */
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

/** Encodes everything but the status. */
function wholeOf(object: KubeObject & { status?: unknown }): string {
  const { apiVersion, kind, metadata, status: _status, ...rest } = object;
  const { resourceVersion: _known, ...stored } = metadata;
  return asGoWrites(JSON.stringify({ apiVersion, kind, metadata: stored, ...rest }));
}

/** Encodes everything but the status and the closing brace. */
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

/** Avoids the buffer pool of Node.js: a long-lived pooled value would keep 8 KiB of other data in memory. */
function ownBytes(text: string): Buffer {
  const encoded = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  encoded.write(text);
  return encoded;
}

/** An object that is encoded once with placeholders and then filled many times. */
export class EncodedObject {
  readonly #pieces: string[] = [];
  /** `#holes[i]` names the placeholder between pieces i and i + 1. */
  readonly #holes: string[] = [];
  readonly #tail: string;

  /** `holes` maps placeholder names to their texts: whole strings outside the status. */
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

  /** Returns the encoded object with these texts in place of the placeholders. */
  fill(texts: Readonly<Record<string, string>>): Buffer {
    let head = this.#pieces[0] ?? '';
    for (const [index, hole] of this.#holes.entries()) {
      head += asGoWrites(JSON.stringify(texts[hole])) + this.#pieces[index + 1];
    }
    return join(head, this.#tail);
  }
}

/** Returns the text with the lowest index in `within`. */
function firstOf(texts: Iterable<string>, within: string): { text: string; at: number } | undefined {
  let first: { text: string; at: number } | undefined;
  for (const text of texts) {
    const at = within.indexOf(text);
    if (at >= 0 && (!first || at < first.at)) first = { text, at };
  }
  return first;
}

/** Returns a stored value with `resourceVersion` in its metadata, as clients receive it. */
export function spliceResourceVersion(stored: Buffer, revision: number): Buffer {
  const spliced = new SplicedValue(stored, revision);
  const bytes = Buffer.allocUnsafe(spliced.length);
  spliced.copyTo(bytes, 0);
  return bytes;
}

/**
 * Like `spliceResourceVersion`, without a buffer of its own: a list copies each value once, straight into the response.
 */
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
 * Where metadata began in the previous value. Consecutive values are mostly of one kind. In a value of another kind
 * this index lies inside the kind's name or inside the metadata, where these bytes cannot occur.
 */
let lastStart = METADATA_OPENING.length;

/** Returns the index after the brace that opens the metadata. */
function metadataStart(stored: Buffer): number {
  const opening = lastStart - METADATA_OPENING.length;
  // A loop: a library call costs more than comparing these few bytes.
  let same = 0;
  while (same < METADATA_OPENING.length && stored[opening + same] === METADATA_OPENING[same]) same += 1;
  if (same === METADATA_OPENING.length) return lastStart;
  lastStart = stored.indexOf(METADATA_OPENING) + METADATA_OPENING.length;
  return lastStart;
}

/** Decodes only the metadata, which is enough for a label selector. */
export function decodeMetadata(stored: Buffer): ObjectMeta {
  const start = metadataStart(stored) - 1;
  return JSON.parse(stored.toString('utf8', start, endOfMap(stored, start)));
}

/** Returns the index after the brace that closes the map beginning at `start`. */
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

/** Returns the index of the quote that closes the string opened at `start`. */
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
