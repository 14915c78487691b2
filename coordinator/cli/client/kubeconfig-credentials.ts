/** Reads the credentials of a kubeconfig's user. */
import { credentialFromPlugin } from './credential-plugin.js';
import { type Entry, fileText, textOf, textOrFile, unusable } from './kubeconfig-file.js';

interface Credentials {
  /** PEM. */
  certificate?: string | undefined;
  /** PEM. */
  key?: string | undefined;
  headers: Readonly<Record<string, string | string[]>>;
}

/** Fields that change the user and that this client or the coordinator does not support. */
const UNSUPPORTED = ['username', 'password', 'auth-provider', 'as-user-extra'];

/** Returns no credentials for an undefined user. Runs the user's plugin (`exec`). Throws `ExitError`. */
export function credentialsOf(user: Entry | undefined, cluster: object): Credentials {
  if (!user) return { headers: {} };
  const unsupported = UNSUPPORTED.find((key) => isSet(user.fields[key]));
  if (unsupported) throw unusable(`The ${user.title}: ${unsupported} is not supported.`);
  const certificate = textOrFile(user, 'client-certificate');
  const key = textOrFile(user, 'client-key');
  // Like in client-go, the file takes precedence.
  const token = (fileText(user, 'tokenFile') ?? textOf(user, 'token'))?.trim();
  const own = { certificate, key, token };
  const isComplete = token !== undefined || certificate !== undefined;
  const proof = isComplete || !isSet(user.fields.exec) ? own : credentialFromPlugin(user, cluster);
  return {
    certificate: proof.certificate,
    key: proof.key,
    headers: { ...(proof.token ? { authorization: `Bearer ${proof.token}` } : {}), ...impersonation(user) },
  };
}

/**
 * Returns headers for `as`, `as-uid` and `as-groups`. Without them a command would run with more rights than the user
 * intends.
 */
function impersonation(user: Entry): Record<string, string | string[]> {
  const [name, uid, groups] = [textOf(user, 'as'), textOf(user, 'as-uid'), user.fields['as-groups']];
  const isList = Array.isArray(groups) && groups.every((group) => typeof group === 'string');
  if (isSet(groups) && !isList) throw unusable(`The ${user.title}: as-groups must be a list of strings.`);
  return {
    ...(name === undefined ? {} : { 'impersonate-user': name }),
    ...(uid === undefined ? {} : { 'impersonate-uid': uid }),
    ...(isList ? { 'impersonate-group': groups as string[] } : {}),
  };
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '';
}
