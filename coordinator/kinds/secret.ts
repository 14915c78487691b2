/** v1 Secret: stored and served; not mounted into Pods yet. */
import type { Secret } from '../../shared/kube/config.js';
import type { Kind } from './kind.js';
import { AGE_COLUMN, column, NAME_COLUMN } from './table-column.js';
import { STANDARD_VERBS } from './verbs.js';

/** Folds the write-only `stringData` into `data`; its keys win. */
function setDefaults(secret: Secret): void {
  secret.type ||= 'Opaque';
  if (!secret.stringData) return;
  const entries = Object.entries(secret.stringData);
  const encoded = entries.map(([key, value]) => [key, Buffer.from(value, 'utf8').toString('base64')]);
  if (encoded.length > 0) secret.data = { ...secret.data, ...Object.fromEntries(encoded) };
  delete secret.stringData;
}

/** A type that an update leaves out stays as it is. */
function prepareForUpdate(next: Secret, current: Secret): void {
  if (!next.type && current.type) next.type = current.type;
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
    column('Type', 'string', 'What the data is for.', (secret) => secret.type ?? ''),
    column('Data', 'string', 'How many keys it holds.', (secret) => Object.keys(secret.data ?? {}).length),
    AGE_COLUMN,
  ],
  fields: { type: (secret) => secret.type ?? '' },
  hasGeneration: false,
  nameRule: 'dnsSubdomain',
  setDefaults,
  prepareForCreate: () => undefined,
  prepareForUpdate,
  validate: () => [],
  validateUpdate: () => [],
  warnings: () => [],
};
