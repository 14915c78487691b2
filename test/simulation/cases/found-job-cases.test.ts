/** Faults of DaemonJobs that the simulation found, each as a short history. */
import { describe, test } from 'node:test';
import '../../harness/processes/low-priority.js';
import { after, job, KILLED, outcomesNear, outcomesOf, SECOND } from './case-builders.js';
import { withWitness } from './case-witness.js';

describe('faults of DaemonJobs that the simulation found', () => {
  test(
    'a job ends although a node loses its label before its Pod is bound',
    withWitness(
      [/Pod sweep.host-1.0 created/, /Pod sweep.host-1.0 (changed|removed)/, /DaemonJob sweep changed/],
      () =>
        outcomesNear({
          ...{ seed: 'jobs-8', nodes: 4, speed: 1 },
          steps: [
            after(
              0.1,
              job('job:fails', { retry: 'AtMostOnce', parallelism: 2, untilSeconds: 60, zone: 'a' }),
            ),
            after(0.005, { kind: 'label node', node: 'host-1', zone: null }),
          ],
        }),
    ),
  );

  test(
    'hosts that miss two runs have results of the second one',
    withWitness(
      [/DaemonJobResult sweep.host-1 created/, /"rerun job"/, /DaemonJobResult sweep.host-1 changed/],
      () =>
        outcomesOf(1, [
          after(0.1, job('job:slow', { isSuspended: true, untilSeconds: 60 })),
          after(90, { kind: 'rerun job', name: 'sweep' }),
        ]),
    ),
  );

  test(
    'a host that missed a run stays missed when its Pod of an earlier run has failed',
    withWitness(
      [
        /host-1 +power cut/,
        /"rerun job"/,
        /DaemonJobResult sweep.host-1 created/,
        /Pod sweep.host-1.0 changed: status \(Failed/,
        /DaemonJobResult sweep.host-1 changed/,
      ],
      () =>
        outcomesOf(1, [
          after(0.1, job('job:long', { backoffLimit: 0, untilSeconds: 60, maxFailed: 0 })),
          after(3, { kind: 'cut power', node: 'host-1', downMs: 120 * SECOND, damagesCache: false }),
          after(0.5, { kind: 'rerun job', name: 'sweep' }),
        ]),
    ),
  );

  test(
    'a user who edits the annotations of a Pod gets no second start with AtMostOnce',
    withWitness([/edit job pod: done/, /Pod sweep.host-1.0 changed: status \(Failed/], () =>
      outcomesOf(1, [
        after(1, job('job:fails', { retry: 'AtMostOnce' })),
        after(1.5, { kind: 'edit job pod', name: 'sweep', node: 'host-1', attempt: '0', run: '0' }),
        after(60, { kind: 'wait' }),
      ]),
    ),
  );

  test(
    'a host without a cache and engine removes the containers of its deleted Node when the engine is back',
    withWitness(
      [
        /Pod sweep.host-1.0 changed: status \(Failed/,
        /host-1 +the engine stops/,
        /desired cache is damaged/,
        /hub ended the session .*nodeDeleted/,
        { absent: /host-1 +the agent starts/ },
        /the container engine answers again/,
      ],
      () =>
        outcomesOf(1, [
          after(0.1, job('job:fails', { backoffLimit: 0 })),
          after(20, { kind: 'stop engine', node: 'host-1', forMs: 90 * SECOND, killsContainers: true }),
          after(0.1, {
            ...{ kind: 'kill agent', node: 'host-1', crashAt: KILLED },
            ...{ downMs: 500, damagesCache: true },
          }),
          after(20, { kind: 'delete node', node: 'host-1' }),
        ]),
    ),
  );

  test(
    'a Pod that succeeded does not run again if its agent is killed while it removes the Pod of a deleted job',
    withWitness(
      [
        /Pod sweep.host-2.0 changed: status \(Succeeded/,
        /Pod sweep.host-2.0 removed/,
        /host-2 +the agent is killed/,
        /host-2 +the agent starts/,
      ],
      () =>
        outcomesNear({
          ...{ seed: 'jobs-28010317', nodes: 3, speed: 2 },
          steps: [
            after(0.1, job('job:long', { retry: 'AtMostOnce', deadlineSeconds: 90, untilSeconds: 60 })),
            after(0.416, { kind: 'delete pod', node: 'host-3', index: 2, force: false }),
            after(6.816, { kind: 'delete job result', name: 'audit', node: 'host-4' }),
            after(23.34, { kind: 'delete daemonset', name: 'beta', policy: 'Foreground' }),
            after(2.81, { kind: 'rerun job', name: 'sweep' }),
            after(0.02, {
              ...job('job:long', { parallelism: 2, backoffLimit: 1, deadlineSeconds: 20, ttlSeconds: 5 }),
              ...{ name: 'audit' },
            }),
            after(0.813, { kind: 'suspend job', name: 'audit', isSuspended: false }),
            after(0.014, {
              ...{ kind: 'kill agent', node: 'host-2', crashAt: { operation: 2, side: 'before' } },
              ...{ downMs: 5_674, damagesCache: false },
            }),
            after(0.209, { kind: 'delete job', name: 'sweep', policy: 'Foreground' }),
            after(9.322, { kind: 'reset connections', node: 'host-1' }),
          ],
        }),
    ),
  );

  test(
    'a coordinator that is killed after a result of an ended job is deleted counts the host again',
    withWitness(
      [
        /DaemonJobResult sweep.host-1 created/,
        /DaemonJob sweep changed/,
        /DaemonJobResult sweep.host-1 removed/,
        { absent: /DaemonJobResult sweep.host-1 created/ },
        /coordinator +is killed/,
        /DaemonJobResult sweep.host-1 created/,
      ],
      () =>
        outcomesOf(2, [
          after(1, job('job:slow')),
          after(60, {
            ...{ kind: 'kill coordinator', downMs: 5 * SECOND },
            crashAt: { operation: 1, side: 'after' },
          }),
          after(0.01, { kind: 'delete job result', name: 'sweep', node: 'host-1' }),
          after(60, { kind: 'wait' }),
        ]),
    ),
  );
});
