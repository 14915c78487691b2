/** How an object lies in the store, and how its revision gets into it on the way out. */
import type { KubeObject, ObjectMeta } from '../../shared/kube/meta.js';

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

const asGoWrites = (json: string): string => json.replace(ESCAPED_BY_GO, goEscape);

/**
 * Compact JSON that begins with apiVersion, kind and metadata, without resourceVersion, and ends with the status: the
 * form of a stored value.
 */
export function encodeObject(object: KubeObject & { status?: unknown }): Buffer {
  const { apiVersion, kind, metadata, status, ...rest } = object;
  const { resourceVersion: _known, ...stored } = metadata;
  const head = asGoWrites(JSON.stringify({ apiVersion, kind, metadata: stored, ...rest }));
  if (status === undefined) return Buffer.from(head);
  const encoded = Buffer.from(head.slice(0, -1) + statusMember(status));
  statusOffsets.set(encoded, Buffer.byteLength(head) - 1);
  return encoded;
}

/** `object`, which differs from the one stored in nothing but its status: only that is encoded. */
export function encodeNewStatus(stored: Buffer, object: KubeObject & { status?: unknown }): Buffer {
  const offset = statusOffsets.get(stored);
  if (offset === undefined) return encodeObject(object);
  const encoded = Buffer.concat([stored.subarray(0, offset), Buffer.from(statusMember(object.status ?? {}))]);
  statusOffsets.set(encoded, offset);
  return encoded;
}

function statusMember(status: unknown): string {
  return `,"status":${asGoWrites(JSON.stringify(status))}}`;
}

/** A stored value with `resourceVersion` in its metadata: what clients get. */
export function spliceResourceVersion(stored: Buffer, revision: number): Buffer {
  const at = stored.indexOf(METADATA_OPENING) + METADATA_OPENING.length;
  const separator = stored[at] === CLOSING_BRACE ? '' : ',';
  return Buffer.concat([
    stored.subarray(0, at),
    Buffer.from(`"resourceVersion":"${revision}"${separator}`),
    stored.subarray(at),
  ]);
}

/** Decodes the metadata alone: a fraction of an object, and all that a label selector looks at. */
export function decodeMetadata(stored: Buffer): ObjectMeta {
  const start = stored.indexOf(METADATA_OPENING) + METADATA_OPENING.length - 1;
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
