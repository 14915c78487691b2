/** Draws steps with values of hosts and with DaemonJobs. */
import type { SeededRandom } from '../machines/seeded-random.js';
import { type Fault, type JobRules, type JobStep, nodeName, type ValueStep } from './history.js';

const JOBS = ['sweep', 'audit'];
const JOB_IMAGES = ['job:short', 'job:long', 'job:long', 'job:slow', 'job:fails'];
const OBJECTS = ['defaults', 'zonal', 'stores', 'rivals'] as const;
/** Hosts that may join late. */
const LATE_HOSTS = 2;

type FleetStep = ValueStep | JobStep | Extract<Fault, { kind: 'add host' }>;

/** Draws a step of this kind. `nodes`: number of hosts at the start. */
export function drawFleetStep(kind: FleetStep['kind'], chance: SeededRandom, nodes: number): FleetStep {
  const node = () => nodeName(chance.integer(1, nodes + LATE_HOSTS));
  const name = chance.pick(JOBS);
  switch (kind) {
    case 'use values':
      return {
        ...{ kind, name: chance.pick(['alpha', 'beta']) },
        uses: chance.pick([['store'], ['store'], ['store', 'zone'], ['zone'], []] as const),
      };
    case 'set values':
      return setValues(chance, nodes);
    case 'delete values':
      return { kind, object: chance.pick(OBJECTS) };
    case 'create job':
      return { kind, name, job: drawJob(chance) };
    case 'suspend job':
      return { kind, name, isSuspended: chance.isTrue(0.5) };
    case 'rerun job':
      return { kind, name };
    case 'set parallelism':
      return { kind, name, parallelism: chance.pick([1, 2, '50%', '100%']) };
    case 'delete job':
      return { kind, name, policy: chance.pick(['Background', 'Foreground', 'Orphan'] as const) };
    case 'delete job result':
      return { kind, name, node: node() };
    case 'edit job pod':
      return {
        ...{ kind, name, node: node() },
        attempt: chance.pick(['0', '1', '7', 'none']),
        run: chance.pick(['0', '1', '2']),
      };
    case 'add host':
      return { kind, index: nodes + chance.integer(1, LATE_HOSTS) };
  }
}

/** Returns the values that a history of values begins with: most hosts have one. */
export function firstValues(chance: SeededRandom): ValueStep {
  const zone = chance.pick(['a', null] as const);
  return { kind: 'set values', object: 'defaults', priority: -1, zone, nodes: [], key: 'store', value: 'v0' };
}

function setValues(chance: SeededRandom, nodes: number): ValueStep {
  const object = chance.pick(OBJECTS);
  const all = Array.from({ length: nodes + 1 }, (_, index) => nodeName(index + 1));
  return {
    ...{ kind: 'set values', object },
    priority: object === 'defaults' ? -1 : chance.pick([0, 0, 0, 1]),
    zone: object === 'zonal' ? chance.pick(['a', 'b'] as const) : null,
    nodes: object === 'stores' || object === 'rivals' ? all.filter(() => chance.isTrue(0.6)) : [],
    key: chance.pick(['store', 'store', 'store', 'spare'] as const),
    value: chance.pick(['v1', 'v2', 'v3']),
  };
}

function drawJob(chance: SeededRandom): JobRules {
  const rarely = <T>(values: readonly T[]) => (chance.isTrue(0.25) ? chance.pick(values) : null);
  return {
    image: chance.pick(JOB_IMAGES),
    isSuspended: chance.isTrue(0.1),
    retry: chance.pick(['AtLeastOnce', 'AtLeastOnce', 'AtMostOnce'] as const),
    parallelism: chance.pick([1, 2, '50%', '100%', '100%']),
    backoffLimit: chance.pick([null, 0, 1, 2, 3]),
    deadlineSeconds: rarely([20, 90, 300]),
    untilSeconds: rarely([10, 60, 400]),
    maxFailed: rarely([0, 1]),
    ttlSeconds: rarely([5, 60]),
    zone: rarely(['a', 'b'] as const),
  };
}
