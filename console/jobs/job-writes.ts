/** Changes of jobs, each like a kubectl or `everynode job` command. */
import { type DaemonJob, daemonJobFinishedAs, runOf } from '../../shared/kube/daemonjobs/daemonjob-types.js';
import { countText, type KubeObject } from '../../shared/kube/objects/meta.js';
import { type SteeringVerb, steeringAnnotation } from '../../shared/kube/rollouts/steering-requests.js';
import { requestApi } from '../api/api-call.js';
import { counted, t } from '../texts/translate.js';
import { jobRollout, jobStatus, jobsPath } from './job-text.js';

const MERGE = 'application/merge-patch+json';

/** An action that is possible now. */
export interface JobAction {
  label: string;
  /** The effect, with the number of hosts. */
  consequence: string;
  command: string;
  /** True if an operator most likely wants it. */
  isMain?: boolean;
  /** What the user must be allowed to do. `steer`: also to patch the Rollout of this name. */
  verb: 'patch' | 'steer' | 'delete';
  perform: () => Promise<void>;
}

function objectPath(resource: string, { metadata: { namespace = '', name } }: KubeObject): string {
  return `${jobsPath(resource, namespace)}/${name}`;
}

async function patch(resource: string, object: KubeObject, body: object): Promise<void> {
  await requestApi(objectPath(resource, object), {
    method: 'PATCH',
    contentType: MERGE,
    body,
    isMinimal: true,
  });
}

/** Returns the possible actions, most likely first. `now`: ms since the epoch. */
export function actionsOfJob(job: DaemonJob, now: number): JobAction[] {
  const { namespace = '', name } = job.metadata;
  const { failed = 0, missed = 0, waiting = 0, offline = 0 } = job.status ?? {};
  const isFinished = daemonJobFinishedAs(job) !== undefined;
  const isLate = job.spec.until !== undefined && Date.parse(job.spec.until) <= now;
  const actions: (JobAction | false)[] = [
    ...waveActions(job),
    isFinished &&
      failed + missed > 0 &&
      !isLate && {
        label: 'Rerun failed hosts',
        isMain: true,
        consequence: counted(
          'The job runs again on {{count}} hosts that failed or missed it. Hosts that succeeded do nothing.',
          failed + missed,
        ),
        command: `everynode job rerun ${name} -n ${namespace}`,
        verb: 'patch',
        // The resourceVersion keeps two operators from starting two runs.
        perform: () =>
          patch('daemonjobs', job, {
            metadata: { resourceVersion: job.metadata.resourceVersion },
            spec: { run: runOf(job) + 1 },
          }),
      },
    !isFinished &&
      suspension('daemonjobs', job, job.spec.suspend, {
        suspend: counted(
          'No further host starts: {{count}} hosts wait. Pods that run continue.',
          waiting + offline,
        ),
        resume: counted('{{count}} hosts may start again.', waiting + offline),
      }),
    deletion('daemonjobs', job, t('Its Pods are ended, and the results of all hosts are deleted with it.')),
  ];
  return actions.filter((each) => each !== false);
}

/** Returns the actions that let the next wave of the job open. */
export function waveActions(job: DaemonJob): JobAction[] {
  const rollout = jobRollout(job);
  if (!rollout || daemonJobFinishedAs(job) || ENDS.has(jobStatus(job).word)) return [];
  const { phase, wave, waves } = rollout;
  const next = waves[waves.findIndex(({ name }) => name === wave) + 1];
  const opens = next
    ? `wave ${next.name} opens: ${countText(leftOf(next), 'host')} may start`
    : t('there is no further wave');
  if (phase === 'AwaitingApproval' && next)
    return [steering(job, 'approve', next.name, `${opens.charAt(0).toUpperCase()}${opens.slice(1)}.`)];
  if (phase === 'Soaking')
    return [steering(job, 'promote', wave, `The soak time of wave ${wave} ends; ${opens}.`)];
  if (phase === 'AwaitingHosts')
    return [steering(job, 'promote', wave, `No host of wave ${wave} has succeeded; ${opens}.`)];
  return [];
}

/** States of a job that starts no further host. */
const ENDS: ReadonlySet<string> = new Set(['Stopping', 'Terminating']);

function leftOf(wave: { hosts: number; succeeded: number; failed: number; missed: number }): number {
  return wave.hosts - wave.succeeded - wave.failed - wave.missed;
}

/** The annotation lists waves. Those that it names already stay: the operator may have approved them ahead. */
function steering(job: DaemonJob, verb: SteeringVerb, wave: string, consequence: string): JobAction {
  const { namespace = '', name, annotations } = job.metadata;
  const key = steeringAnnotation(verb);
  const listed = (annotations?.[key] ?? '').split(',').map((each) => each.trim());
  const value = [...new Set([...listed, wave])].filter(Boolean).join(',');
  return {
    label: verb === 'approve' ? t('Approve {{wave}}', { wave }) : t('Promote {{wave}}', { wave }),
    isMain: verb === 'approve',
    consequence,
    command: `kubectl -n ${namespace} annotate daemonjob ${name} --overwrite ${key}=${value}`,
    verb: 'steer',
    perform: () => patch('daemonjobs', job, { metadata: { annotations: { [key]: value } } }),
  };
}

/** Returns the possible actions on a CronDaemonJob. */
export function actionsOfCronJob(cron: KubeObject & { spec: { suspend?: boolean } }): JobAction[] {
  return [
    suspension('crondaemonjobs', cron, cron.spec.suspend, {
      suspend: t('No further run starts. Runs that have begun continue.'),
      resume: t('The job runs again at the next time of its schedule.'),
    }),
    deletion('crondaemonjobs', cron, t('Its jobs are deleted with it, with the results of all hosts.')),
  ];
}

function suspension(
  resource: string,
  object: KubeObject,
  isSuspended: boolean | undefined,
  effects: { suspend: string; resume: string },
): JobAction {
  const { namespace = '', name } = object.metadata;
  const suspend = !isSuspended;
  return {
    label: suspend ? 'Suspend' : 'Resume',
    consequence: suspend ? effects.suspend : effects.resume,
    command: `kubectl -n ${namespace} patch ${resource} ${name} --type=merge -p '{"spec":{"suspend":${suspend}}}'`,
    verb: 'patch',
    perform: () => patch(resource, object, { spec: { suspend } }),
  };
}

function deletion(resource: string, object: KubeObject, consequence: string): JobAction {
  const { namespace = '', name, uid } = object.metadata;
  return {
    label: 'Delete',
    consequence,
    command: `kubectl -n ${namespace} delete ${resource} ${name}`,
    verb: 'delete',
    perform: async () => {
      // The uid keeps a new object of the same name from being deleted.
      const body = {
        kind: 'DeleteOptions',
        apiVersion: 'v1',
        preconditions: { uid },
        propagationPolicy: 'Background',
      };
      await requestApi(objectPath(resource, object), { method: 'DELETE', body, isMinimal: true });
    },
  };
}
