/** v1 Secret. */
import type { Secret } from '../../../shared/kube/objects/config-types.js';
import { ownValue } from '../../../shared/kube/objects/label-syntax.js';
import type { FieldError, Kind } from '../kind.js';
import { STANDARD_VERBS } from '../kind.js';
import { AGE_COLUMN, column, NAME_COLUMN } from '../table-column.js';
import { FIELD_IMMUTABLE, invalidValue, required, tooLong } from '../validation/field-error.js';
import { MAX_DATA_BYTES, validateDataKeys, validateImmutable } from './immutable-data.js';

/** Contains the hash of an agent's credential. There is one per node, and no Pod uses it. */
export const CREDENTIAL_SECRET_TYPE = 'everynode.dev/node-credential';

const REDACTED = '<secret contents redacted>';
/** The type of a Secret with a token of a ServiceAccount, and the annotations that name the account. */
export const ACCOUNT_TOKEN_SECRET_TYPE = 'kubernetes.io/service-account-token';
export const ACCOUNT_NAME_ANNOTATION = 'kubernetes.io/service-account.name';
export const ACCOUNT_UID_ANNOTATION = 'kubernetes.io/service-account.uid';

/** Merges the write-only `stringData` into `data`. Its keys take precedence. */
function setDefaults(secret: Secret): void {
  secret.type ||= 'Opaque';
  if (!secret.stringData) return;
  const entries = Object.entries(secret.stringData);
  const encoded = entries.map(([key, value]) => [key, Buffer.from(value, 'utf8').toString('base64')]);
  if (encoded.length > 0) secret.data = { ...secret.data, ...Object.fromEntries(encoded) };
  delete secret.stringData;
}

function sizeOf(secret: Secret): number {
  return Object.values(secret.data ?? {}).reduce((sum, text) => sum + Buffer.byteLength(text, 'base64'), 0);
}

function requireKeys(secret: Secret, ...keys: string[]): FieldError[] {
  const lacking = keys.filter((key) => secret.data?.[key] === undefined);
  return lacking.map((key) => required(`data[${key}]`));
}

function isJsonObject(base64: string): boolean {
  try {
    const value: unknown = JSON.parse(Buffer.from(base64, 'base64').toString('utf8'));
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    // Hide the parser's message: it would quote the Secret.
    return false;
  }
}

/** Registry credentials are a JSON document under one key. */
function requireJson(secret: Secret, key: string): FieldError[] {
  const text = secret.data?.[key];
  if (text === undefined) return [required(`data[${key}]`)];
  return isJsonObject(text) ? [] : [invalidValue(`data[${key}]`, REDACTED, 'must be a JSON object')];
}

/** Unlike other required keys, this one must not be empty. */
function requirePrivateKey(secret: Secret): FieldError[] {
  return secret.data?.['ssh-privatekey'] ? [] : [required('data[ssh-privatekey]')];
}

/** Either of the two keys suffices. */
function requireUserOrPassword(secret: Secret): FieldError[] {
  const lacking = requireKeys(secret, 'username', 'password');
  return lacking.length === 2 ? lacking : [];
}

function requireAccount(secret: Secret): FieldError[] {
  if (secret.metadata.annotations?.[ACCOUNT_NAME_ANNOTATION]) return [];
  return [required(`metadata.annotations[${ACCOUNT_NAME_ANNOTATION}]`)];
}

/** Upstream's validation of well-known types. */
const TYPES: Readonly<Record<string, (secret: Secret) => FieldError[]>> = {
  [ACCOUNT_TOKEN_SECRET_TYPE]: requireAccount,
  'kubernetes.io/dockercfg': (secret) => requireJson(secret, '.dockercfg'),
  'kubernetes.io/dockerconfigjson': (secret) => requireJson(secret, '.dockerconfigjson'),
  'kubernetes.io/basic-auth': requireUserOrPassword,
  'kubernetes.io/ssh-auth': requirePrivateKey,
  'kubernetes.io/tls': (secret) => requireKeys(secret, 'tls.crt', 'tls.key'),
};

function validate(secret: Secret): FieldError[] {
  return [
    ...validateDataKeys(secret.data, 'data'),
    ...(sizeOf(secret) > MAX_DATA_BYTES ? [tooLong('data', MAX_DATA_BYTES)] : []),
    ...(ownValue(TYPES, secret.type ?? '')?.(secret) ?? []),
  ];
}

function validateUpdate(next: Secret, current: Secret): FieldError[] {
  const type = next.type === current.type ? [] : [invalidValue('type', next.type, FIELD_IMMUTABLE)];
  return [...type, ...validateImmutable(next, current, ['data'])];
}

export const secretKind: Kind<Secret> = {
  group: '',
  version: 'v1',
  kind: 'Secret',
  resource: 'secrets',
  singular: 'secret',
  shortNames: [],
  categories: [],
  namespaced: true,
  verbs: STANDARD_VERBS,
  schema: 'io.k8s.api.core.v1.Secret',
  subresources: {},
  columns: [
    NAME_COLUMN,
    column('Type', 'string', 'Type of the data.', (secret) => secret.type ?? ''),
    column('Data', 'string', 'Number of keys.', (secret) => Object.keys(secret.data ?? {}).length),
    AGE_COLUMN,
  ],
  fields: { type: (secret) => secret.type ?? '' },
  hasGeneration: false,
  nameRule: 'dnsSubdomain',
  setDefaults,
  prepareForCreate: () => undefined,
  prepareForUpdate: () => undefined,
  validate,
  validateUpdate,
  warnings: () => [],
};
