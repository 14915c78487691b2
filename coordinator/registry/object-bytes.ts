/** How an object lies in the store, and how its revision gets into it on the way out. */
import type { KubeObject } from '../../shared/kube/meta.js';

const METADATA_OPENING = Buffer.from('"metadata":{');
const CLOSING_BRACE = 0x7d;

/** Compact JSON that begins with apiVersion, kind and metadata, without resourceVersion: the form of a stored value. */
export function encodeObject(object: KubeObject): Buffer {
  const { apiVersion, kind, metadata, ...rest } = object;
  const { resourceVersion: _known, ...stored } = metadata;
  return Buffer.from(JSON.stringify({ apiVersion, kind, metadata: stored, ...rest }));
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
