/** Expectations about the set, its revisions, its events. */

import { REVISION_HASH_LABEL } from '../../../shared/kube/daemonsets/daemonset-types.js';
import { controllerOf } from '../../../shared/kube/objects/meta.js';
import { requireKeys } from '../tables/conformance-table.js';
import { podsOfSet, revisionsOfSet } from './cluster-snapshot.js';
import {
  type Check,
  daemonSetIn,
  type ExpectationContext,
  expectEqual,
  expectTrue,
} from './scenario-check.js';

function setNow({ now, set }: ExpectationContext) {
  return daemonSetIn(now, set);
}

const status: Check = (expected, look) => {
  const got: Record<string, unknown> = { ...setNow(look)?.status };
  // An absent counter is 0.
  const fine = Object.entries(expected as object).every(([key, value]) => (got[key] ?? 0) === value);
  return expectTrue(fine, got);
};

function namesAndNumbers(look: ExpectationContext, moment: 'before' | 'now'): string[] {
  return revisionsOfSet(look[moment].revisions, look.set).map(
    ({ metadata, revision }) => `${metadata.name}=${revision}`,
  );
}

function nameOfRevision(
  look: ExpectationContext,
  moment: 'before' | 'now',
  number: unknown,
): string | undefined {
  return revisionsOfSet(look[moment].revisions, look.set).find((one) => one.revision === number)?.metadata
    .name;
}

const sameNameAs: Check = (expected, look) => {
  requireKeys(expected, ['revision', 'wasRevision'], 'sameNameAs');
  const { revision, wasRevision } = expected as Record<string, unknown>;
  const name = nameOfRevision(look, 'now', revision);
  const was = nameOfRevision(look, 'before', wasRevision);
  return expectTrue(name !== undefined && name === was, { name, was });
};

const podLabelHashEqualsRevision: Check = (expected, look) => {
  const wanted = revisionsOfSet(look.now.revisions, look.set).find((one) => one.revision === expected)
    ?.metadata.labels?.[REVISION_HASH_LABEL];
  const got = podsOfSet(look.now.pods, look.set).map((pod) => pod.metadata.labels?.[REVISION_HASH_LABEL]);
  return expectTrue(got.length > 0 && wanted !== undefined && got.every((hash) => hash === wanted), {
    wanted,
    got,
  });
};

const daemonSetGoneAfterPods: Check = (expected, look) => {
  const gone = look.recording.setEvents(look.set).find(({ type }) => type === 'DELETED');
  const pods = look.recording.podEvents(look.set).filter(({ type }) => type === 'DELETED');
  const version = (meta: { resourceVersion?: string }) => Number(meta.resourceVersion);
  const after =
    gone !== undefined &&
    podsOfSet(look.now.pods, look.set).length === 0 &&
    pods.every(({ pod }) => version(pod.metadata) < version(gone.daemonSet.metadata));
  return expectTrue(after === expected, { gone: gone !== undefined, podsDeleted: pods.length });
};

const events: Check = (expected, look) => {
  const fresh = look.now.events.filter((event) => {
    if (event.involvedObject.kind !== 'DaemonSet' || event.involvedObject.name !== look.set) return false;
    const old = look.before.events.find((one) => one.metadata.uid === event.metadata.uid);
    return !old || (event.count ?? 1) > (old.count ?? 1);
  });
  const missing = (expected as Record<string, string>[]).filter((wanted) => {
    requireKeys(wanted, ['type', 'reason', 'messagePrefix', 'source'], 'events');
    return !fresh.some(
      (event) =>
        (wanted.type === undefined || event.type === wanted.type) &&
        (wanted.reason === undefined || event.reason === wanted.reason) &&
        (wanted.messagePrefix === undefined || event.message?.startsWith(wanted.messagePrefix)) &&
        (wanted.source === undefined || event.source?.component === wanted.source),
    );
  });
  return expectTrue(
    missing.length === 0,
    fresh.map(({ type, reason, message }) => `${type} ${reason} ${message}`),
  );
};

function generation(look: ExpectationContext, moment: 'before' | 'now'): number {
  return daemonSetIn(look[moment], look.set)?.metadata.generation ?? 0;
}

export const SET_CHECKS: Readonly<Record<string, Check>> = {
  status,
  generation: (expected, look) => expectEqual(expected, generation(look, 'now')),
  observedGeneration: (expected, look) =>
    expectEqual(expected, setNow(look)?.status?.observedGeneration ?? 0),
  collisionCount: (expected, look) => expectEqual(expected, setNow(look)?.status?.collisionCount ?? 0),
  generationDelta: (expected, look) =>
    expectEqual(expected, generation(look, 'now') - generation(look, 'before')),
  conditionsContain: (expected, look) => {
    const types = setNow(look)?.status?.conditions?.map((condition) => condition.type) ?? [];
    return expectTrue(
      (expected as string[]).every((type) => types.includes(type)),
      types,
    );
  },
  watchEvent: (expected, look) => {
    const types = look.recording.setEvents(look.set).map(({ type }) => type);
    return expectTrue(types.includes(String(expected)), types);
  },
  templateAnnotation: (expected, look) => {
    const annotations = setNow(look)?.spec.template.metadata?.annotations ?? {};
    return expectTrue(Object.hasOwn(annotations, String(expected)), annotations);
  },
  revisions: (expected, look) =>
    expectEqual(
      expected,
      revisionsOfSet(look.now.revisions, look.set).map(({ revision }) => revision),
    ),
  revisionsOrphaned: (expected, { now, set }) =>
    expectEqual(
      expected,
      revisionsOfSet(now.revisions, set).filter(({ metadata }) => !controllerOf(metadata)).length,
    ),
  sameRevisions: (expected, look) => {
    const unchanged =
      expectEqual(namesAndNumbers(look, 'before'), namesAndNumbers(look, 'now')) === undefined;
    return expectTrue(unchanged === expected, namesAndNumbers(look, 'now'));
  },
  sameNameAs,
  podLabelHashEqualsRevision,
  daemonSets: (expected, { now }) => expectEqual(expected, now.daemonSets.length),
  daemonSetTerminating: (expected, look) =>
    expectEqual(expected, setNow(look)?.metadata.deletionTimestamp !== undefined),
  daemonSetGoneAtOnce: (expected, { outcome }) =>
    expectTrue((outcome.getAfterDelete === 404) === expected, outcome.getAfterDelete),
  daemonSetGoneAfterPods,
  finalizerSeen: (expected, look) => {
    const seen = look.recording
      .setEvents(look.set)
      .flatMap(({ daemonSet }) => daemonSet.metadata.finalizers ?? []);
    return expectTrue(seen.includes(String(expected)), seen);
  },
  events,
};
