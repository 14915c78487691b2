/** The Secret with the credential of a node's agent, and its revocation. */

export const ENROLMENT_NAMESPACE = 'kube-system';

const CREDENTIAL_SECRET_PREFIX = 'node-credential-';

export function credentialSecretName(node: string): string {
  return `${CREDENTIAL_SECRET_PREFIX}${node}`;
}

/** Returns the node of a credential Secret, or undefined for any other Secret. */
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

/** Returns `data` with the node's key removed and its hash added to the revoked ones. Values are base64. */
export function revokedData(data: Readonly<Record<string, string>>): Record<string, string> {
  const { key, 'not-after': _end, labels: _labels, 'any-labels': _any, ...others } = data;
  const barred = [...listIn(data.revoked), ...listIn(key)];
  return { ...others, revoked: btoa([...new Set(barred)].join(',')) };
}

/** Returns the hex hashes of all revoked keys of a credential. */
export function revokedKeyHashes(data: Readonly<Record<string, string>> | undefined): string[] {
  return listIn(data?.revoked);
}

function listIn(value: string | undefined): string[] {
  return decoded(value).split(',').filter(Boolean);
}

function decoded(value: string | undefined): string {
  return atob(value ?? '');
}
