/** A job that ended before the coordinator started: its results are counted once for each status. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DaemonJobDeps } from '../../../coordinator/controllers/daemonjobs/daemonjob-deps.js';
import { DaemonJobRuns } from '../../../coordinator/controllers/daemonjobs/daemonjob-runs.js';
import type {
  DaemonJob,
  DaemonJobResult,
  DaemonJobStatus,
} from '../../../shared/kube/daemonjobs/daemonjob-types.js';
import { ManualClock } from '../../../shared/process/time/clock.js';

const STATUS = {
  ...{ observedGeneration: 1, run: 1, hosts: 1, succeeded: 1 },
  conditions: [{ type: 'Complete', status: 'True' }],
} as DaemonJobStatus;

function job(status: DaemonJobStatus, labels: Record<string, string> = {}): DaemonJob {
  return {
    ...{ apiVersion: 'fleet.everynode.dev/v1', kind: 'DaemonJob', spec: {}, status: structuredClone(status) },
    metadata: { name: 'sweep', namespace: 'default', uid: 'sweep', generation: 1, labels },
  } as unknown as DaemonJob;
}

const result = (phase: string) =>
  ({
    metadata: {
      name: `sweep-${phase}`,
      namespace: 'default',
      ownerReferences: [{ kind: 'DaemonJob', name: 'sweep', uid: 'sweep', controller: true }],
    },
    ...{ nodeName: 'n1', run: 1, phase },
  }) as unknown as DaemonJobResult;

test('the results of an ended job are counted again only after a change of its status or of a result', () => {
  let counted = 0;
  let results = [result('Succeeded')];
  const indexed = () => {
    counted += 1;
    return results;
  };
  const deps = { clock: new ManualClock(), informers: { daemonJobResults: { indexed } } };
  const runs = new DaemonJobRuns(deps as unknown as DaemonJobDeps, () => undefined);
  const check = (each: DaemonJob) => [runs.isSettled(each), counted];
  assert.deepEqual(check(job(STATUS)), [true, 1]);
  assert.deepEqual(check(job(STATUS, { team: 'a' })), [true, 1], 'a label counts nothing');
  assert.deepEqual(check(job({ ...STATUS, succeeded: 2, hosts: 2 })), [false, 2]);
  assert.deepEqual(check(job(STATUS)), [true, 2]);
  results = [result('Failed')];
  for (const changed of results) runs.resultChanged(changed);
  assert.deepEqual(check(job(STATUS)), [false, 3]);
  results = [result('Succeeded')];
  assert.deepEqual(check(job(STATUS)), [true, 4]);
  runs.remove('sweep');
  assert.deepEqual(check(job(STATUS)), [true, 5], 'a removed job is forgotten');
});
