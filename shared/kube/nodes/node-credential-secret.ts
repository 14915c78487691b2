/** The Secret that holds what a node's agent proves itself by, as those write it who revoke it. */

/** Where it is. */
export const ENROLMENT_NAMESPACE = 'kube-system';

const CREDENTIAL_SECRET_PREFIX = 'node-credential-';

/** Its name. */
export function credentialSecretName(node: string): string {
  return `${CREDENTIAL_SECRET_PREFIX}${node}`;
}

/** The node whose credential a Secret is; undefined for any other Secret. */
export function nodeOfCredential({
  namespace,
  name,
}: {
  namespace?: string;
  name: string;
}): string | undefined {
  const isCredential = namespace === ENROLMENT_NAMESPACE && name.startsWith(CREDENTIAL_SECRET_PREFIX);
  return isCredential ? name.slice(CREDENTIAL_SECRET_PREFIX.length) : undefined;
}

/** `data` without the node's key, which is barred from then on. Values are base64, as in Secrets. */
export function revokedData(data: Readonly<Record<string, string>>): Record<string, string> {
  const { key, 'not-after': _end, labels: _labels, 'any-labels': _any, ...others } = data;
  const barred = [...listIn(data.revoked), ...listIn(key)];
  return { ...others, revoked: btoa([...new Set(barred)].join(',')) };
}

/** What of a credential was revoked: hashes in hex. */
export function revokedKeyHashes(data: Readonly<Record<string, string>> | undefined): string[] {
  return listIn(data?.revoked);
}

function listIn(value: string | undefined): string[] {
  return decoded(value).split(',').filter(Boolean);
}

function decoded(value: string | undefined): string {
  return atob(value ?? '');
}
