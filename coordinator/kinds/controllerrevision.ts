/** apps/v1 ControllerRevision: one past or present template of a DaemonSet. */
import { controllerOf } from '../../shared/kube/meta.js';
import type { ControllerRevision } from '../../shared/kube/workload.js';
import type { Kind } from './kind.js';
import { AGE_COLUMN, column, NAME_COLUMN, NONE } from './table-column.js';
import { STANDARD_VERBS } from './verbs.js';

/** `daemonset.apps/NAME` */
function controllerText(revision: ControllerRevision): string {
  const owner = controllerOf(revision.metadata);
  if (!owner) return NONE;
  const [group, version] = owner.apiVersion.split('/');
  return `${owner.kind.toLowerCase()}${version === undefined ? '' : `.${group}`}/${owner.name}`;
}

export const controllerRevisionKind: Kind<ControllerRevision> = {
  group: 'apps',
  version: 'v1',
  kind: 'ControllerRevision',
  resource: 'controllerrevisions',
  singular: 'controllerrevision',
  shortNames: [],
  categories: [],
  namespaced: true,
  verbs: STANDARD_VERBS,
  schema: 'io.k8s.api.apps.v1.ControllerRevision',
  subresources: {},
  columns: [
    NAME_COLUMN,
    column('Controller', 'string', 'The workload whose template it keeps.', controllerText),
    column(
      'Revision',
      'string',
      'Number of the revision; the newest has the highest.',
      (object) => object.revision,
    ),
    AGE_COLUMN,
  ],
  fields: {},
  hasGeneration: false,
  nameRule: 'dnsSubdomain',
  setDefaults: () => undefined,
  prepareForCreate: () => undefined,
  prepareForUpdate: () => undefined,
  validate: () => [],
  validateUpdate: () => [],
  warnings: () => [],
};
