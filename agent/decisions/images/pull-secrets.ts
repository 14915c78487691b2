/**
 * Registry credentials of a Pod's `imagePullSecrets` (pkg/kubelet getPullSecretsForPod,
 * pkg/credentialprovider/secrets).
 */

import { ownValue } from '../../../shared/kube/objects/label-syntax.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import { configTexts, type FindConfig } from '../container-spec/config-lookup.js';
import { type Keyring, parseDockerConfig } from './registry-credentials.js';

/** The key with the credentials, by type of Secret. */
const KEYS: Readonly<Record<string, string>> = {
  'kubernetes.io/dockerconfigjson': '.dockerconfigjson',
  'kubernetes.io/dockercfg': '.dockercfg',
};

interface PullSecrets {
  rings: Keyring[];
  /** Names of missing Secrets; the pull is tried without them. */
  missing: string[];
}

/**
 * Returns the credentials; Secrets of other types are ignored. Throws an Error that names a Secret with invalid
 * content.
 */
export function pullSecrets({ metadata, spec }: Pod, find: FindConfig): PullSecrets {
  const found: PullSecrets = { rings: [], missing: [] };
  for (const { name } of spec.imagePullSecrets ?? []) {
    if (!name) continue;
    const secret = find({ kind: 'Secret', namespace: metadata.namespace ?? '', name });
    if (secret?.kind !== 'Secret') {
      found.missing.push(name);
      continue;
    }
    const { type = '' } = secret as { type?: string };
    const text = configTexts(secret).get(ownValue(KEYS, type) ?? '');
    if (text) found.rings.push(ringOf(name, text));
  }
  return found;
}

/** The error must not contain the text, which is secret. */
function ringOf(name: string, text: string): Keyring {
  try {
    return parseDockerConfig(text);
  } catch (error) {
    const why = error instanceof SyntaxError ? 'not JSON' : error instanceof Error ? error.message : '';
    throw new Error(`the pull secret "${name}" cannot be used: ${why}`);
  }
}

/** Returns the message of `FailedToRetrieveImagePullSecret`. */
export function missingSecretsText(missing: readonly string[]): string {
  return `Unable to retrieve some image pull secrets (${missing.join(', ')}); attempting to pull the image may not succeed.`;
}
