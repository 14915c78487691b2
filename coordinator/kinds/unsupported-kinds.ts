/**
 * Kinds that clients list by default or that charts contain, and that Everynode does not run: `kubectl apply --prune` and
 * `cluster-info dump` fail if one is unknown, and Helm would ask for CRDs. They can be listed and watched, and are always empty. Every other request is refused with a
 * sentence. Also GET of a name: Helm sends it for each object of a chart before it stores anything, and a 404 would let
 * it install the rest of the chart. A kind that Everynode learns to run leaves this table.
 */
import { inertKind } from './inert-kind.js';
import type { Kind } from './kind.js';
import type { Schema } from './schema/schema-definitions.js';
import { AGE_COLUMN, NAME_COLUMN } from './table-column.js';

const DAEMON_SET = 'use a DaemonSet, which runs one Pod on each matching host';
const NETWORK = 'hosts would not enforce it, so filter on the hosts or in front of them';

interface Row {
  /** "" for the core group. The version is v1. */
  group: string;
  kind: string;
  /** The plural of the kind, if it has another ending than s or es. */
  plural?: string;
  /** Prefix of the schema's name. */
  schemas: string;
  shortNames?: readonly string[];
  isClusterScoped?: true;
  /** Completes "Everynode does not support StatefulSets: …". */
  instead: string;
}

const CORE = { group: '', schemas: 'io.k8s.api.core.v1' };
const APPS = { group: 'apps', schemas: 'io.k8s.api.apps.v1' };
const NETWORKING = { group: 'networking.k8s.io', schemas: 'io.k8s.api.networking.v1' };

const ROWS: readonly Row[] = [
  { ...CORE, kind: 'ReplicationController', shortNames: ['rc'], instead: DAEMON_SET },
  { ...APPS, kind: 'StatefulSet', shortNames: ['sts'], instead: DAEMON_SET },
  {
    ...NETWORKING,
    kind: 'NetworkPolicy',
    plural: 'NetworkPolicies',
    shortNames: ['netpol'],
    instead: NETWORK,
  },
  {
    group: 'apiregistration.k8s.io',
    kind: 'APIService',
    schemas: 'io.k8s.kube-aggregator.pkg.apis.apiregistration.v1',
    isClusterScoped: true,
    instead: 'the coordinator serves all APIs itself, also metrics.k8s.io for kubectl top',
  },
];

/** A kind without objects. */
export interface UnsupportedKind {
  readonly kind: Kind;
  /** The message of every refused request. */
  readonly refusal: string;
}

function pluralOf(kind: string): string {
  return kind.endsWith('s') ? `${kind}es` : `${kind}s`;
}

function unsupported({
  group,
  kind,
  plural = pluralOf(kind),
  schemas,
  shortNames = [],
  isClusterScoped,
  instead,
}: Row): UnsupportedKind {
  return {
    kind: inertKind({
      ...{ group, kind, shortNames, namespaced: !isClusterScoped, verbs: ['list', 'watch'] },
      ...{ resource: plural.toLowerCase(), singular: kind.toLowerCase(), schema: `${schemas}.${kind}` },
      columns: [NAME_COLUMN, AGE_COLUMN],
    }),
    refusal: `Everynode does not support ${plural}: ${instead}`,
  };
}

/** The kinds in the order of discovery. They are outside of ALL_KINDS: the registry and the controllers ignore them. */
export const UNSUPPORTED_KINDS: readonly UnsupportedKind[] = ROWS.map(unsupported);

/** Returns a schema without fields for each kind, so that `kubectl explain` prints the refusal. */
export function unsupportedDefinitions(): Readonly<Record<string, Schema & { description: string }>> {
  const definitions = UNSUPPORTED_KINDS.map(({ kind: { schema, group, version, kind }, refusal }) => [
    schema,
    {
      description: `${refusal}.`,
      type: 'object',
      'x-kubernetes-group-version-kind': [{ group, kind, version }],
    },
  ]);
  return Object.fromEntries(definitions);
}
