/** The bytes that an agent is to hold of an object, and when they are others. */
import { createHash } from 'node:crypto';
import type { ConfigMap, Secret } from '../../../shared/kube/objects/config-types.js';
import type { KubeObject } from '../../../shared/kube/objects/meta.js';
import { isConfigObject } from '../../../shared/kube/pods/config-reference.js';
import type { DesiredObject } from '../../../shared/link/messages/link-messages.js';
import { sameJsonExcept } from '../../registry/encoding/json-value.js';
import type { ObjectSigner } from '../restore/object-signer.js';

/** 96 bits: two versions of one object will not meet by chance, and nobody gains by making them. */
const DIGEST_CHARACTERS = 16;

const OWN_ANNOTATIONS = 'everynode.dev/';

/** Digests of objects as informers share them; each is worked out once a revision, its bytes only when they are sent. */
const digests = new WeakMap<KubeObject, string>();

/** Of a ConfigMap or Secret the very bytes: one encoding for all nodes that name it. */
const encoded = new WeakMap<KubeObject, DesiredObject>();

/** What changes on its own account, and is nothing to an agent. */
const NOT_DESIRED: ReadonlySet<string> = new Set(['status', 'metadata']);
const NOT_DESIRED_METADATA: ReadonlySet<string> = new Set(['resourceVersion', 'managedFields']);

/** The object without that. */
function desiredPart(object: KubeObject & { status?: unknown }): object {
  const { status: _, metadata, ...rest } = object;
  const { resourceVersion: __, managedFields: ___, ...kept } = metadata;
  return { ...rest, metadata: kept };
}

/** What a host needs of a ConfigMap or Secret. Other annotations stay behind: kubectl keeps a copy of the data in one. */
function configPart(object: ConfigMap & Secret): object {
  const { apiVersion, kind, metadata, type, data, binaryData } = object;
  const { uid, namespace, name, annotations = {} } = metadata;
  const own = Object.entries(annotations).filter(([key]) => key.startsWith(OWN_ANNOTATIONS));
  const kept = { uid, namespace, name, ...(own.length > 0 && { annotations: Object.fromEntries(own) }) };
  return { apiVersion, kind, metadata: kept, type, data, binaryData };
}

function bytesOf(object: KubeObject): Buffer {
  const part = isConfigObject(object) ? configPart(object) : desiredPart(object);
  return Buffer.from(JSON.stringify(part));
}

function digestOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('base64url').slice(0, DIGEST_CHARACTERS);
}

/** The digest of what an agent is to hold of this object. */
export function desiredDigest(object: KubeObject): string {
  let digest = digests.get(object);
  if (digest === undefined) {
    digest = digestOf(bytesOf(object));
    digests.set(object, digest);
  }
  return digest;
}

/** A ConfigMap or Secret as it goes over the link, to any node. It bears no seal: it is never given back. */
export function encodeConfig(object: ConfigMap | Secret): DesiredObject {
  let desired = encoded.get(object);
  if (!desired) {
    const kind = object.kind === 'Secret' ? 'Secret' : 'ConfigMap';
    desired = {
      uid: object.metadata.uid ?? '',
      digest: desiredDigest(object),
      kind,
      object: bytesOf(object),
    };
    encoded.set(object, desired);
  }
  return desired;
}

/** The object as it goes over the link to a node. Its uid is the one the store gave it. */
export function encodeDesired(object: KubeObject, node: string, sealer: ObjectSigner): DesiredObject {
  const { uid = '', resourceVersion } = object.metadata;
  const bytes = bytesOf(object);
  if (!digests.has(object)) digests.set(object, digestOf(bytes));
  const seal = sealer.sign(node, { uid, object: bytes }, Number(resourceVersion ?? 0));
  return { uid, object: bytes, digest: desiredDigest(object), mac: seal };
}

/** True when a change is none for the agent, e.g. of the status that it has itself reported. */
export function isSameForAgent(previous: KubeObject, current: KubeObject): boolean {
  return (
    sameJsonExcept(previous.metadata, current.metadata, NOT_DESIRED_METADATA) &&
    sameJsonExcept(previous, current, NOT_DESIRED)
  );
}
