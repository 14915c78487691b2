/** fleet.everynode.dev/v1 DaemonSetOverride. */
import type { DaemonSetOverride } from '../../../shared/kube/daemonsets/daemonset-override-types.js';
import { FLEET_GROUP } from '../../../shared/kube/objects/meta.js';
import { setVolumeDefaults } from '../../../shared/kube/pods/volume-defaults.js';
import type { Kind } from '../kind.js';
import { STANDARD_VERBS } from '../kind.js';
import { dropPastSpecs, recordFirstSpec, recordSpecChange } from '../record-spec-change.js';
import { AGE_COLUMN, column, labelsText, NAME_COLUMN, NONE } from '../table-column.js';
import { validateDaemonSetOverride } from './daemonset-override-validation.js';

/**
 * The same defaults as in a template. Otherwise an override that repeats the template would differ from it, and would
 * replace Pods without a change.
 */
function setDefaults({ spec }: DaemonSetOverride): void {
  // A volume without a source is a mistake here, not an emptyDir.
  for (const volume of spec?.volumes ?? []) if (Object.keys(volume).length > 1) setVolumeDefaults(volume);
  for (const { env } of spec?.containers ?? []) {
    for (const { valueFrom } of env ?? []) if (valueFrom?.fieldRef) valueFrom.fieldRef.apiVersion ||= 'v1';
  }
}

function changesOf({ spec }: DaemonSetOverride): string {
  const containers = (spec.containers ?? []).flatMap(({ name, image, resources, env }) => [
    ...(image === undefined ? [] : [`${name}.image`]),
    ...(resources ? [`${name}.resources`] : []),
    ...(env?.length ? [`${name}.env`] : []),
  ]);
  return [...containers, ...(spec.volumes ?? []).map(({ name }) => `volumes.${name}`)].join(',');
}

export const daemonSetOverrideKind: Kind<DaemonSetOverride> = {
  group: FLEET_GROUP,
  version: 'v1',
  kind: 'DaemonSetOverride',
  resource: 'daemonsetoverrides',
  singular: 'daemonsetoverride',
  shortNames: ['dso'],
  categories: [],
  namespaced: true,
  verbs: STANDARD_VERBS,
  schema: 'dev.everynode.fleet.v1.DaemonSetOverride',
  subresources: {},
  columns: [
    NAME_COLUMN,
    column('DaemonSet', 'string', 'DaemonSet whose Pods are changed.', ({ spec }) => spec.daemonSetName),
    column(
      'Priority',
      'integer',
      'Rank among overrides of the same field.',
      ({ spec }) => spec.priority ?? 0,
    ),
    column('Selector', 'string', 'Hosts whose Pods are changed.', ({ spec }) =>
      spec.nodeSelector ? labelsText(spec.nodeSelector.matchLabels) || '<expression>' : 'all hosts',
    ),
    column('Changes', 'string', 'Fields that are changed.', (object) => changesOf(object) || NONE),
    AGE_COLUMN,
  ],
  fields: {},
  hasGeneration: true,
  nameRule: 'dnsSubdomain',
  setDefaults,
  hasOwnStatus: true,
  prepareForCreate: recordFirstSpec,
  prepareForUpdate: recordSpecChange,
  shrink: dropPastSpecs,
  validate: validateDaemonSetOverride,
  validateUpdate: () => [],
  warnings: () => [],
};
