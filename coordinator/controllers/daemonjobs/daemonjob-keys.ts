/** Queue keys of the DaemonJob controller: `ns/job`, `ns/job@node`, and `orphan:ns/pod`. */
import { type KubeObject, type ObjectRef, refText } from '../../../shared/kube/objects/meta.js';
import { splitKey } from '../queue/object-key.js';

const ORPHAN = 'orphan:';

type DaemonJobKey =
  | { kind: 'job'; ref: ObjectRef }
  | { kind: 'host'; ref: ObjectRef; nodeName: string }
  | { kind: 'orphan'; ref: ObjectRef };

export function jobKey({ metadata }: KubeObject): string {
  return refText(metadata);
}

export function hostKey(job: KubeObject, nodeName: string): string {
  return `${jobKey(job)}@${nodeName}`;
}

/** A Pod whose DaemonJob is gone. */
export function orphanKey({ metadata }: KubeObject): string {
  return `${ORPHAN}${refText(metadata)}`;
}

export function parseDaemonJobKey(key: string): DaemonJobKey {
  if (key.startsWith(ORPHAN)) return { kind: 'orphan', ref: splitKey(key.slice(ORPHAN.length)) };
  const [text = '', nodeName] = key.split('@');
  const ref = splitKey(text);
  return nodeName === undefined ? { kind: 'job', ref } : { kind: 'host', ref, nodeName };
}
