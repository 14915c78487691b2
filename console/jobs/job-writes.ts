/** Changes of jobs, each like a kubectl or `everynode job` command. */
import { type DaemonJob, daemonJobFinishedAs, runOf } from '../../shared/kube/daemonjobs/daemonjob-types.js';
import { countText, type KubeObject } from '../../shared/kube/objects/meta.js';
import { requestApi } from '../api/api-call.js';
import { jobsPath } from './job-text.js';

const MERGE = 'application/merge-patch+json';

/** An action that is possible now. */
export interface JobAction {
  label: string;
  /** The effect, with the number of hosts. */
  consequence: string;
  command: string;
  verb: 'patch' | 'delete';
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
    isFinished &&
      failed + missed > 0 &&
      !isLate && {
        label: 'Rerun failed hosts',
        consequence: `The job runs again on ${countText(failed + missed, 'host')} that failed or missed it. Hosts that succeeded do nothing.`,
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
        suspend: `No further host starts: ${countText(waiting + offline, 'host')} wait. Pods that run continue.`,
        resume: `${countText(waiting + offline, 'host')} may start again.`,
      }),
    deletion('daemonjobs', job, 'Its Pods are ended, and the results of all hosts are deleted with it.'),
  ];
  return actions.filter((each) => each !== false);
}

/** Returns the possible actions on a CronDaemonJob. */
export function actionsOfCronJob(cron: KubeObject & { spec: { suspend?: boolean } }): JobAction[] {
  return [
    suspension('crondaemonjobs', cron, cron.spec.suspend, {
      suspend: 'No further run starts. Runs that have begun continue.',
      resume: 'The job runs again at the next time of its schedule.',
    }),
    deletion('crondaemonjobs', cron, 'Its jobs are deleted with it, with the results of all hosts.'),
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
