/** Which test files run when: suites in steps, and the longest files of a suite first. */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { basename, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Folder of the compiled tests. */
export const COMPILED_SUITES = resolve(fileURLToPath(import.meta.url), '../..');

/** Suites with files that run together, at most `files` test files at a time. */
export interface Lane {
  suites: readonly string[];
  files: number;
}

const lane = (files: number, ...suites: string[]): Lane => ({ suites, files });

/** Lanes that run one after another. */
export type Track = readonly Lane[];

type Steps = readonly (readonly Track[])[];

/**
 * Steps run one after another; the tracks of a step run concurrently. Benchmarks need the machine to themselves. A
 * browser cancels downloads (`ERR_NETWORK_CHANGED`) when a concurrent suite creates networks.
 *
 * The numbers of files keep two cores busy. A file with a browser uses half a core, a component test waits for a third
 * of its time, and files with engines or a kubectl for two thirds. The simulation never waits and has a low priority, so
 * it uses what two other suites leave idle.
 */
export const STEPS: Steps = [
  [[lane(2, '.', 'unit')]],
  [[lane(3, 'component')]],
  [[lane(3, 'console'), lane(5, 'clients', 'e2e')], [lane(2, 'simulation')]],
  [[lane(1, 'bench')]],
];

/** Suites that run only if they are named. */
const ON_REQUEST: Readonly<Record<string, Steps>> = {
  hosts: [[[lane(2, 'hosts')]]],
  extended: [
    [[lane(1, 'extended/simulation')], [lane(1, 'extended/console')]],
    [[lane(3, 'extended/engines', 'extended/faults')]],
  ],
};

/** Returns all lanes of these steps. */
export function lanesOf(steps: Steps): Lane[] {
  return steps.flat(2);
}

/** Names of all suites. */
export const SUITES: readonly string[] = [
  ...lanesOf(STEPS).flatMap(({ suites }) => suites),
  ...Object.keys(ON_REQUEST),
];

/**
 * Seconds of the longest files, measured in a run of all suites. They start first: a long file that starts last would
 * run alone. The closing lines of each run (`took N s`) show what belongs here.
 */
export const LONG_FILES: Readonly<Record<string, number>> = {
  'clients/conformance-scenarios': 160,
  'clients/demo-command': 75,
  'clients/fleet/cron-daemonjob-kubectl': 55,
  'clients/fleet/daemonjob-kubectl': 45,
  'clients/fleet/host-values-kubectl': 50,
  'clients/fleet/overrides-kubectl': 45,
  'clients/kubectl/job-kubectl': 75,
  'clients/kubectl/policy-kubectl': 65,
  'clients/others/ansible': 45,
  'clients/others/older-kubectl': 90,
  'clients/rollout-scenarios': 70,
  'clients/simulate-program': 105,
  'component/cli/cli-as-a-user': 40,
  'component/cli/coordinator-doctor': 30,
  'component/cli/failed-start': 25,
  'component/cli/remote-release': 25,
  'component/cli/simulate-commands': 30,
  'component/pod-logs/pod-log-files': 20,
  'component/replica/etcd-faults': 40,
  'component/volumes/crowded-folder': 25,
  'console/console': 115,
  'console/job-pages': 80,
  'console/large-fleet': 55,
  'console/manifest-pages': 50,
  'console/operator-tasks': 75,
  'console/overview-pages': 50,
  'console/page-pictures': 120,
  'e2e/cluster/coordinator-faults': 110,
  'e2e/cluster/failover': 45,
  'e2e/cluster/restore-cluster': 55,
  'e2e/cluster/up-coordinators': 80,
  'e2e/engines/config-on-engine': 140,
  'e2e/engines/lifecycle-on-engine': 65,
  'e2e/engines/node-pressure-on-engine': 50,
  'e2e/engines/pods-on-engine': 65,
  'e2e/engines/probes-on-engine': 70,
  'e2e/engines/registries-on-engine': 75,
  'e2e/engines/restore-on-engine': 45,
  'e2e/engines/static-pods-on-engine': 70,
  'e2e/engines/volumes-on-engine': 80,
  'e2e/faults/chaos-rounds': 50,
  'e2e/faults/crashes': 115,
  'e2e/faults/killed-mid-lifecycle': 65,
  'e2e/hosts/test-hosts': 70,
  'e2e/hosts/two-hosts': 210,
  'e2e/pod-logs/log-files-podman': 60,
  'e2e/services/services-of-pods': 115,
  'e2e/services/services-on-engine': 150,
  'e2e/services/services-two-hosts': 240,
  'e2e/streams/streams-docker': 115,
  'e2e/tour/up-down': 140,
  'simulation/cases/found-cases': 40,
  'simulation/cases/found-rollout-cases': 55,
  'simulation/coordinators/failovers': 65,
  'simulation/simulation': 85,
};

/** Seconds of a file that is not listed. */
const TYPICAL_SECONDS = 12;

function secondsOf(file: string): number {
  return LONG_FILES[relative(COMPILED_SUITES, file).replace(/\.test\.js$/, '')] ?? TYPICAL_SECONDS;
}

export function testFiles(path: string, recurse: boolean): string[] {
  if (!existsSync(path)) return [];
  if (statSync(path).isFile()) return [path];
  return readdirSync(path, { withFileTypes: true })
    .flatMap((entry) => {
      const child = join(path, entry.name);
      if (entry.isDirectory()) return recurse ? testFiles(child, true) : [];
      return entry.name.endsWith('.test.js') ? [child] : [];
    })
    .sort();
}

function filesOfSuite(suite: string): string[] {
  return testFiles(join(COMPILED_SUITES, suite), suite !== '.');
}

/** Returns the suites and files of these steps that have no test, for example after a folder was renamed. */
export function emptySuites(steps: Steps): string[] {
  return lanesOf(steps)
    .flatMap(({ suites }) => suites)
    .filter((suite) => filesOfSuite(suite).length === 0);
}

/** Returns the files of a lane in the order of their start: by their time, then by name, so that suites mix. */
export function filesOf({ suites }: Lane): string[] {
  const all = suites.flatMap(filesOfSuite);
  return all.sort((a, b) => secondsOf(b) - secondsOf(a) || (basename(a) < basename(b) ? -1 : 1));
}

/** Resolves a name to a suite or a file, as a path relative to the suites. Returns undefined if there is neither. */
export function findTests(name: string): string | undefined {
  return [relative('.', name) || name, relative(COMPILED_SUITES, resolve(name))].find(
    (each) =>
      existsSync(join(COMPILED_SUITES, each)) && testFiles(join(COMPILED_SUITES, each), true).length > 0,
  );
}

/** The steps of a suite or file that the user named. */
function stepsOf(name: string): Steps {
  if (name.endsWith('.js')) return [[[lane(1, name)]]];
  const own = lanesOf(STEPS).find(({ suites }) => suites.includes(name));
  return ON_REQUEST[name] ?? [[[lane(own?.files ?? 2, name)]]];
}

/** Runs named files and folders of unit and component tests together, and every other name as steps of its own. */
export function namedSteps(names: readonly string[]): Steps {
  const isSmall = (name: string) => /^(unit|component)\//.test(name);
  const small = names.filter(isSmall);
  const others = names.filter((name) => !isSmall(name)).flatMap(stepsOf);
  return small.length > 0 ? [...others, [[lane(3, ...small)]]] : others;
}

/** Returns all steps of `npm test` and of the suites that run on request. */
export function allSteps(): Steps {
  return [...STEPS, ...Object.values(ON_REQUEST).flat()];
}
