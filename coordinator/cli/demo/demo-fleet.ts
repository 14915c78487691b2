/** The fleet of `everynode demo`: hosts, DaemonSets and policies as manifests. Pure. */
import type { DaemonSet } from '../../../shared/kube/daemonsets/daemonset-types.js';
import { FLEET_GROUP } from '../../../shared/kube/objects/meta.js';

export const DEMO_NAMESPACE = 'shops';
/** The DaemonSet with the bad release. */
export const TILL = 'till';
/** The DaemonSet that is updated at night only. */
export const SIGNAGE = 'signage';
export const OFFLINE_SITE = 'lisbon';

/** Time zones as values of the label `tz`. */
const SITES: readonly [site: string, timeZone: string][] = [
  ['berlin', 'Europe.Berlin'],
  ['jakarta', 'Asia.Jakarta'],
  [OFFLINE_SITE, 'Europe.Lisbon'],
  ['seoul', 'Asia.Seoul'],
  ['toronto', 'America.Toronto'],
];
const HOSTS_PER_SITE = 40;
export const HOSTS = SITES.length * HOSTS_PER_SITE;
/** Each fourth host is of this model. The bad release crashes on it. */
const EACH_MODEL_B = 4;
/** Of each site. The first one is of model b, so that the bad release always fails in the first wave. */
const CANARIES = 2;

const SIMULATE = 'simulate.everynode.dev';

/** Returns v1 Nodes for `simulate --nodes`. */
export function demoNodes(): object[] {
  return SITES.flatMap(([site, tz]) =>
    Array.from({ length: HOSTS_PER_SITE }, (_, index) => ({
      apiVersion: 'v1',
      kind: 'Node',
      metadata: {
        name: `${site}-${String(index + 1).padStart(2, '0')}`,
        labels: {
          ...{ site, tz, model: index % EACH_MODEL_B === 0 ? 'b' : 'a' },
          ...(index < CANARIES && { canary: 'true' }),
        },
      },
    })),
  );
}

/** A release of the tills. */
type TillRelease = '1.0' | '1.1' | '1.2';

/** 1.1 is the bad one. */
export function tillDaemonSet(release: TillRelease): DaemonSet {
  const crash = release === '1.1' ? { [`${SIMULATE}/fail-on`]: 'model=b' } : undefined;
  return daemonSet(TILL, `registry.example.com/till:${release}`, crash);
}

export function signageDaemonSet(release: '1.0' | '2.0'): DaemonSet {
  return daemonSet(SIGNAGE, `registry.example.com/signage:${release}`);
}

function daemonSet(name: string, image: string, annotations?: Record<string, string>): DaemonSet {
  const labels = { app: name };
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name, namespace: DEMO_NAMESPACE, labels },
    spec: {
      selector: { matchLabels: labels },
      template: {
        metadata: { labels, annotations: { [`${SIMULATE}/ready-after`]: '1s', ...annotations } },
        spec: { containers: [{ name, image }] },
      },
    },
  } as DaemonSet;
}

/** The tills are updated in waves over all sites. Signage is updated at night, by the time zone of each site. */
export function demoPolicies(): object[] {
  return [
    policy(TILL, {
      waves: [
        {
          name: 'canary',
          nodeSelector: { matchLabels: { canary: 'true' } },
          maxUnavailable: 5,
          soakSeconds: 10,
        },
        { name: 'quarter', nodes: '25%', maxUnavailable: '20%', approval: 'Manual' },
      ],
      failureBudget: { maxFailed: 1, progressDeadlineSeconds: 20, action: 'Pause' },
      spreadBy: 'site',
    }),
    policy(SIGNAGE, {
      windows: [{ schedule: '0 2 * * *', durationSeconds: 10_800, timeZoneLabel: 'tz' }],
    }),
  ];
}

function policy(app: string, spec: object): object {
  return {
    apiVersion: `${FLEET_GROUP}/v1`,
    kind: 'RolloutPolicy',
    metadata: { name: app, namespace: DEMO_NAMESPACE },
    spec: { selector: { matchLabels: { app } }, ...spec },
  };
}
