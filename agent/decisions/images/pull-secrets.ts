/** The credentials that a Pod brings along by `imagePullSecrets` (pkg/kubelet getPullSecretsForPod, pkg/credentialprovider/secrets). */

import { ownValue } from '../../../shared/kube/objects/label-syntax.js';
import type { Pod } from '../../../shared/kube/pods/pod-types.js';
import { configTexts, type FindConfig } from '../container-spec/config-lookup.js';
import { type Keyring, parseDockerConfig } from './registry-credentials.js';

/** By type of a Secret, the key that holds the credentials. */
const KEYS: Readonly<Record<string, string>> = {
  'kubernetes.io/dockerconfigjson': '.dockerconfigjson',
  'kubernetes.io/dockercfg': '.dockercfg',
};

interface PullSecrets {
  rings: Keyring[];
  /** Names of Secrets that are not here: the pull is tried without them. */
  missing: string[];
}

/** Secrets of other types hold nothing for registries. Throws an Error that names a Secret whose content is none. */
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

/** Without the text itself, which is secret. */
function ringOf(name: string, text: string): Keyring {
  try {
    return parseDockerConfig(text);
  } catch (error) {
    const why = error instanceof SyntaxError ? 'is no JSON' : error instanceof Error ? error.message : '';
    throw new Error(`the pull secret "${name}" cannot be used: ${why}`);
  }
}

/** The message of `FailedToRetrieveImagePullSecret`. */
export function missingSecretsText(missing: readonly string[]): string {
  return `Unable to retrieve some image pull secrets (${missing.join(', ')}); attempting to pull the image may not succeed.`;
}
