/** Turns a manifest of this host into a Pod that runs without a coordinator (pkg/kubelet/config/common.go, file.go). */
import { createHash } from 'node:crypto';
import { refText, toTimestamp } from '../../../shared/kube/objects/meta.js';
import { configReferences } from '../../../shared/kube/pods/config-reference.js';
import { setPodDefaults } from '../../../shared/kube/pods/pod-defaults.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import {
  HASH_ANNOTATION,
  referencedApiObjects,
  SEEN_ANNOTATION,
  SOURCE_ANNOTATION,
} from '../../../shared/kube/pods/static-pod-annotations.js';
import { type AssignedPod, isUnassigned } from '../pods/assigned-pod.js';

/** The Pod, or why the manifest is invalid. */
type StaticPod = { kind: 'pod'; pod: Pod } | { kind: 'refused'; message: string };

interface ManifestPlace {
  /** Absolute path of the file. */
  path: string;
  nodeName: string;
}

const NAME = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/;
const UID_CHARACTERS = 32;

/**
 * Returns the Pod of a decoded manifest. Its uid is the hash of content and path, so a changed text is another Pod.
 * `now`: ms since the epoch.
 */
export function staticPod(manifest: unknown, { path, nodeName }: ManifestPlace, now: number): StaticPod {
  const refusal = refusalOf(manifest);
  if (refusal !== undefined) return { kind: 'refused', message: refusal };
  const given = structuredClone(manifest) as Pod;
  const hash = createHash('sha256')
    .update(JSON.stringify([nodeName, path, manifest]))
    .digest('hex');
  const uid = hash.slice(0, UID_CHARACTERS);
  const { name, namespace = 'default', labels, annotations } = given.metadata;
  const pod: Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `${name}-${nodeName}`,
      namespace,
      uid,
      creationTimestamp: toTimestamp(now),
      ...(labels && { labels }),
      annotations: {
        ...annotations,
        [HASH_ANNOTATION]: uid,
        [SOURCE_ANNOTATION]: 'file',
        [SEEN_ANNOTATION]: toTimestamp(now),
      },
    },
    spec: {
      ...given.spec,
      nodeName,
      // An eviction through the API would be pointless: this host starts the Pod again.
      tolerations: [...(given.spec.tolerations ?? []), { operator: 'Exists', effect: 'NoExecute' }],
    },
  };
  setPodDefaults(pod);
  return { kind: 'pod', pod };
}

/** Checks only what the agent requires; the API validates the mirror Pod completely. */
function refusalOf(manifest: unknown): string | undefined {
  const { apiVersion, kind, metadata, spec } = (manifest ?? {}) as Partial<Pod>;
  if (apiVersion !== 'v1' || kind !== 'Pod') return 'not a v1 Pod';
  if (typeof metadata?.name !== 'string' || !NAME.test(metadata.name))
    return 'metadata.name is missing or invalid';
  const containers = spec?.containers;
  if (!spec || !Array.isArray(containers) || containers.length === 0) return 'spec.containers is missing';
  if (!containers.every(({ name, image }) => typeof name === 'string' && typeof image === 'string')) {
    return 'a container lacks its name or image';
  }
  const [config] = configReferences({ metadata, spec });
  const named = config ? `${config.kind.toLowerCase()}s` : referencedApiObjects({ spec });
  return named && `static pods may not reference ${named}`;
}

/** Uid on this host and JSON of one static Pod. */
interface StaticMirror {
  uid: string;
  object: Uint8Array;
}

/** Returns the mirrors. A stopping Pod is shown until it has ended or another Pod takes its name. */
export function mirrorsOf(pods: readonly AssignedPod[]): StaticMirror[] {
  const byName = new Map<string, AssignedPod>();
  for (const assigned of pods.filter(({ manifestFile }) => manifestFile !== undefined)) {
    const name = refText(assigned.pod.metadata);
    if (!isUnassigned(assigned) || !byName.has(name)) byName.set(name, assigned);
  }
  return [...byName.values()].map(({ uid, pod }) => ({ uid, object: Buffer.from(JSON.stringify(pod)) }));
}
