/** fleet.everynode.dev/v1 DaemonJobResult: the controller writes one for each host that has a result. */
import { DAEMON_JOB_LABEL, type DaemonJobResult } from '../../../shared/kube/daemonjobs/daemonjob-types.js';
import { FLEET_GROUP } from '../../../shared/kube/objects/meta.js';
import { durationText } from '../duration-text.js';
import type { Kind } from '../kind.js';
import { STANDARD_VERBS } from '../kind.js';
import { AGE_COLUMN, column, NAME_COLUMN, NONE, wideColumn } from '../table-column.js';
import { required } from '../validation/field-error.js';

function durationOf({ startTime, completionTime }: DaemonJobResult): string {
  if (!startTime || !completionTime) return NONE;
  return durationText(Date.parse(completionTime) - Date.parse(startTime));
}

export const daemonJobResultKind: Kind<DaemonJobResult> = {
  group: FLEET_GROUP,
  version: 'v1',
  kind: 'DaemonJobResult',
  resource: 'daemonjobresults',
  singular: 'daemonjobresult',
  shortNames: ['djr'],
  categories: [],
  namespaced: true,
  verbs: STANDARD_VERBS,
  schema: 'dev.everynode.fleet.v1.DaemonJobResult',
  subresources: {},
  columns: [
    NAME_COLUMN,
    column('Job', 'string', 'The DaemonJob.', ({ metadata }) => metadata.labels?.[DAEMON_JOB_LABEL] ?? NONE),
    column('Node', 'string', 'The host.', ({ nodeName }) => nodeName),
    column('Result', 'string', 'Succeeded, Failed, Missed or Retrying.', ({ phase }) => phase),
    column('Exit Code', 'string', 'Exit code of the last Pod.', ({ exitCode }) => String(exitCode ?? NONE)),
    column('Attempts', 'integer', 'Pods that have ended.', ({ attempts }) => attempts ?? 0),
    column('Duration', 'string', 'Duration of the last Pod.', durationOf),
    AGE_COLUMN,
    wideColumn('Reason', 'string', 'Why the host failed or was missed.', ({ reason }) => reason ?? NONE),
    wideColumn('Message', 'string', 'Last line of the output.', ({ message }) => {
      return message?.trimEnd().split('\n').at(-1) ?? NONE;
    }),
  ],
  fields: { nodeName: ({ nodeName }) => nodeName ?? '', phase: ({ phase }) => phase ?? '' },
  hasGeneration: false,
  nameRule: 'dnsSubdomain',
  setDefaults: () => undefined,
  prepareForCreate: () => undefined,
  prepareForUpdate: () => undefined,
  validate: ({ nodeName, phase }) => [
    ...(nodeName ? [] : [required('nodeName')]),
    ...(phase ? [] : [required('phase')]),
  ],
  validateUpdate: () => [],
  warnings: () => [],
};
