/** Encodes objects for agents, and decides whether a change of an object matters to an agent. */
import { createHash } from 'node:crypto';
import type { ConfigMap, Secret } from '../../../shared/kube/objects/config-types.js';
import type { KubeObject } from '../../../shared/kube/objects/meta.js';
import { isConfigObject } from '../../../shared/kube/pods/config-reference.js';
import type { DesiredObject } from '../../../shared/link/messages/link-messages.js';
import { sameJsonExcept } from '../../registry/encoding/json-value.js';
import type { ObjectSigner } from '../restore/object-signer.js';

/** 96 bits. An accidental collision is out of reach, and an attacker gains nothing by forcing one. */
const DIGEST_CHARACTERS = 16;

const OWN_ANNOTATIONS = 'everynode.dev/';

/** Digests of cached objects, computed once per revision. The bytes are built only when they are sent. */
const digests = new WeakMap<KubeObject, string>();

/** Encoded ConfigMaps and Secrets: one encoding is shared by all nodes that reference the object. */
const encoded = new WeakMap<KubeObject, DesiredObject>();

/** Fields that change without meaning for an agent. */
const NOT_DESIRED: ReadonlySet<string> = new Set(['status', 'metadata']);
const NOT_DESIRED_METADATA: ReadonlySet<string> = new Set(['resourceVersion', 'managedFields']);

/** Returns the object without the fields that agents do not need. */
function desiredPart(object: KubeObject & { status?: unknown }): object {
  const { status: _, metadata, ...rest } = object;
  const { resourceVersion: __, managedFields: ___, ...kept } = metadata;
  return { ...rest, metadata: kept };
}

/** Returns the fields that a host needs. Foreign annotations are dropped: one contains a copy of the data. */
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

/** Returns the digest of an object's encoding for agents. */
export function desiredDigest(object: KubeObject): string {
  let digest = digests.get(object);
  if (digest === undefined) {
    digest = digestOf(bytesOf(object));
    digests.set(object, digest);
  }
  return digest;
}

/**
 * Encodes a ConfigMap or Secret for the link. The result is the same for all nodes. It carries no MAC, because hosts
 * never return it after a restore.
 */
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

/** Encodes an object for the link of one node, under the uid from the store. */
export function encodeDesired(object: KubeObject, node: string, signer: ObjectSigner): DesiredObject {
  const { uid = '', resourceVersion } = object.metadata;
  const bytes = bytesOf(object);
  if (!digests.has(object)) digests.set(object, digestOf(bytes));
  const mac = signer.sign(node, { uid, object: bytes }, Number(resourceVersion ?? 0));
  return { uid, object: bytes, digest: desiredDigest(object), mac };
}

/** True if the change does not matter to the agent, for example a change of status. */
export function isSameForAgent(previous: KubeObject, current: KubeObject): boolean {
  return (
    sameJsonExcept(previous.metadata, current.metadata, NOT_DESIRED_METADATA) &&
    sameJsonExcept(previous, current, NOT_DESIRED)
  );
}
