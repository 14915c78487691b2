/** Expands a shorthand to the DaemonSet. */
import { type DaemonSetShorthand, SET_LABEL } from './conformance-scenario.js';

function withoutAbsent(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

function affinityOf({ affinityIn }: DaemonSetShorthand): unknown {
  if (!affinityIn) return undefined;
  const matchExpressions = [{ key: affinityIn.key, operator: 'In', values: affinityIn.values }];
  return {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions }] },
    },
  };
}

/** One container `app`; selector and template carry the set's label, unless a selector is given. */
export function daemonSetObject(
  shorthand: DaemonSetShorthand,
  selector: unknown = { matchLabels: { [SET_LABEL]: shorthand.name } },
): Record<string, unknown> {
  const { name, image, labels, annotations, finalizers } = shorthand;
  const { updateStrategy, minReadySeconds, revisionHistoryLimit } = shorthand;
  const { nodeSelector, tolerations, hostNetwork } = shorthand;
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: withoutAbsent({ name, labels, annotations, finalizers }),
    spec: withoutAbsent({
      selector,
      updateStrategy,
      minReadySeconds,
      revisionHistoryLimit,
      template: {
        metadata: { labels: { [SET_LABEL]: name } },
        spec: withoutAbsent({
          nodeSelector,
          tolerations,
          hostNetwork,
          affinity: affinityOf(shorthand),
          containers: [{ name: 'app', image }],
        }),
      },
    }),
  };
}
