/**
 * The rooms may import only what ARCHITECTURE.md's table allows, without import cycles. Every export is used by another
 * file.
 */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '../..');

/** Room → rooms it may import. Files of a room may always import each other. */
const MAY_IMPORT: Record<string, readonly string[]> = {
  'shared/kube': [],
  'shared/calendar': ['shared/kube'],
  'shared/link': ['shared/kube', 'shared/process'],
  'shared/process': [],
  // It prints its report, and counts in sentences.
  'shared/doctor': ['shared/kube/objects/meta.ts', 'shared/process'],
  'coordinator/decisions': ['shared/calendar', 'shared/doctor/finding.ts', 'shared/kube'],
  'coordinator/store': ['shared/process'],
  // Rules of schemas and policies produce the field errors of kinds.
  'coordinator/cel': ['coordinator/kinds/kind.ts', 'coordinator/kinds/validation', 'shared/kube'],
  'coordinator/kinds': ['coordinator/cel', 'shared/kube', 'shared/calendar'],
  'coordinator/registry': [
    // Admission evaluates the expressions of policies and webhooks.
    'coordinator/cel',
    // What admission decides by the state of other objects: evictions, quotas and limits.
    'coordinator/decisions/policy',
    'coordinator/store',
    'coordinator/kinds',
    'shared/kube',
    'shared/process',
  ],
  'coordinator/informers': ['coordinator/registry', 'coordinator/kinds', 'shared/kube', 'shared/process'],
  'coordinator/access': [
    'coordinator/decisions',
    'coordinator/informers',
    'coordinator/registry',
    'coordinator/kinds',
    'shared/kube',
    'shared/process',
  ],
  'coordinator/controllers': [
    'coordinator/decisions',
    'coordinator/informers',
    'coordinator/registry',
    'coordinator/kinds',
    'shared/calendar',
    'shared/kube',
    'shared/process',
  ],
  // Certificates of hosts name the group and the user of a node.
  'coordinator/pki': ['shared/kube/access/node-identity.ts', 'shared/link', 'shared/process'],
  'coordinator/cluster': [
    'coordinator/decisions',
    // The port of a follower has the limits of the API's port, and the same errors at start.
    'coordinator/api/limits',
    'coordinator/api/http/tls-options.ts',
    'coordinator/store',
    'coordinator/pki',
    // The objects of `kubectl get coordinators`.
    'shared/kube',
    'shared/link',
    'shared/process',
  ],
  'coordinator/hub': [
    'coordinator/decisions',
    'coordinator/informers',
    'coordinator/registry',
    'coordinator/kinds',
    'coordinator/pki',
    'shared/kube',
    'shared/link',
    'shared/process',
  ],
  'coordinator/api': [
    'coordinator/access',
    'coordinator/registry',
    'coordinator/kinds',
    'shared/kube',
    'shared/link',
    'shared/process',
  ],
  'coordinator/link-threads': [
    'coordinator/api/http/tls-options.ts',
    // The port of the threads has the limits of the API's port.
    'coordinator/api/limits',
    'coordinator/api/ports.ts',
    // Connections that are no links are passed on to the API like those of a follower to the leader.
    'coordinator/cluster/front-door',
    'coordinator/hub/sessions',
    'coordinator/pki',
    // A refused link gets a Status.
    'shared/kube/objects/api-status.ts',
    'shared/link',
    'shared/process',
  ],
  'coordinator/metrics': [
    'coordinator/api/ports.ts',
    'coordinator/api/http/request-log.ts',
    'coordinator/decisions',
    'coordinator/informers',
    'shared/kube',
    'shared/process',
  ],
  'coordinator/cli': [
    'coordinator',
    // When the next backup is due.
    'shared/calendar',
    'shared/doctor',
    'shared/kube',
    'shared/link',
    'shared/process',
  ],
  'agent/decisions': ['shared/doctor/finding.ts', 'shared/kube', 'agent/runtime/runtime-driver.ts'],
  'agent/link': ['agent/decisions', 'shared/kube', 'shared/link', 'shared/process'],
  'agent/desired': ['agent/decisions', 'shared/kube', 'shared/link', 'shared/process'],
  'agent/services': [
    'agent/decisions',
    'agent/desired',
    // The table receives the link's messages about Services. The relay connects to Pods through the engine.
    'agent/link/link-delegate.ts',
    'agent/runtime/runtime-driver.ts',
    'shared/kube',
    'shared/link',
    'shared/process',
  ],
  // It creates the address of the server.
  'agent/dns': ['agent/decisions', 'agent/runtime/ip-command.ts', 'shared/kube', 'shared/process'],
  // It sets hairpin mode on the engine's bridge.
  'agent/netfilter': ['agent/decisions', 'agent/runtime/host-bridges.ts', 'shared/kube', 'shared/process'],
  'agent/images': ['agent/decisions', 'agent/runtime', 'shared/kube', 'shared/process'],
  'agent/pod-logs': [
    'agent/decisions',
    'agent/runtime/override-driver.ts',
    'agent/runtime/runtime-driver.ts',
    'agent/volumes/file-descriptor.ts',
    'shared/process',
  ],
  'agent/pods': [
    'agent/decisions',
    'agent/images',
    'agent/runtime',
    'agent/volumes',
    'agent/probes',
    'shared/kube',
    'shared/link',
    'shared/process',
  ],
  'agent/handovers': [
    'agent/decisions',
    'agent/desired',
    'agent/images',
    'shared/kube',
    'shared/link',
    'shared/process',
  ],
  'agent/runtime': ['agent/decisions', 'shared/kube', 'shared/process'],
  'agent/volumes': ['agent/decisions', 'agent/runtime/runtime-driver.ts', 'shared/kube', 'shared/process'],
  'agent/streams': [
    'agent/decisions',
    'agent/runtime/runtime-driver.ts',
    'shared/kube',
    'shared/link',
    'shared/process',
  ],
  'agent/kubelet': [
    'agent/decisions',
    // It verifies clients by the authority of the host's certificate.
    'agent/link/server-trust.ts',
    'agent/metrics/prometheus-text.ts',
    'agent/node',
    'agent/runtime/runtime-driver.ts',
    'shared/kube',
    'shared/link',
    'shared/process',
  ],
  'agent/probes': [
    'agent/decisions',
    'agent/runtime/runtime-driver.ts',
    'agent/runtime/container-command.ts',
    'shared/kube',
    'shared/process',
  ],
  'agent/metrics': ['agent/runtime/runtime-driver.ts', 'shared/kube', 'shared/link', 'shared/process'],
  'agent/doctor': [
    'agent/assembly/open-runtime.ts',
    'agent/decisions',
    'agent/identity',
    // The doctor trusts a coordinator by the same rules as the link.
    'agent/link/server-trust.ts',
    'agent/netfilter/nft-command.ts',
    'agent/program/agent-settings.ts',
    'shared/doctor',
    'shared/kube',
    'shared/link/forward-proxy',
    'shared/process',
  ],
  'agent/install': ['agent', 'shared/doctor', 'shared/kube', 'shared/link/forward-proxy', 'shared/process'],
  'agent/upgrade': [
    'agent/install',
    'agent/runtime/override-driver.ts',
    'agent/runtime/runtime-driver.ts',
    'shared/link/forward-proxy',
    'shared/link/host-subject.ts',
    'shared/process',
  ],
  // These three build the agent, as coordinator/main.ts builds the coordinator.
  'agent/program': ['agent', 'shared'],
  'agent/assembly': ['agent', 'shared'],
  'agent/identity': [
    'agent/decisions',
    'agent/desired',
    'agent/link',
    'agent/pods/steps/pod-token-cache.ts',
    // It asks the coordinator about callers of the kubelet's port.
    'agent/kubelet/port/kubelet-access.ts',
    'agent/program/agent-settings.ts',
    'shared/kube',
    'shared/link',
    'shared/process',
  ],
  // A second assembly: it builds the agent over simulated hosts.
  'agent/simulate': ['agent', 'shared/kube', 'shared/link', 'shared/process'],
  // A browser program may use Kubernetes' types and no other code of ours.
  'console/api': ['shared/kube'],
  'console/texts': [],
  'console/layout': ['console/api', 'console/texts', 'shared/kube'],
  'console/sign-in': ['console/api', 'console/layout', 'console/texts', 'shared/kube'],
  'console/availability': ['console/api', 'console/layout', 'console/texts', 'shared/kube'],
  'console/fleet': ['console/api', 'console/layout', 'console/texts', 'shared/kube'],
  // The start page sums up hosts, rollouts and jobs, with their states and actions.
  'console/overview': [
    'console/api',
    'console/availability',
    'console/fleet',
    'console/jobs',
    'console/layout',
    'console/rollouts',
    'console/texts',
    'shared/kube',
  ],
  'console/audit': ['console/api', 'console/layout', 'console/texts', 'shared/kube'],
  // A timeline shows the writes of users in the sentences of the activity.
  'console/timeline': ['console/api', 'console/audit', 'console/layout', 'console/texts', 'shared/kube'],
  'console/calendar': ['console/api', 'console/layout', 'console/texts', 'shared/kube'],
  'console/onboarding': ['console/api', 'console/layout', 'console/texts', 'shared/kube'],
  'console/coordinators': ['console/api', 'console/layout', 'console/texts', 'shared/kube'],
  'console/palette': ['console/api', 'console/layout', 'console/texts', 'shared/kube'],
  'console/pods': ['console/api', 'console/layout', 'console/texts', 'shared/kube'],
  'console/charts': [],
  // A Service has Events, as Pods have.
  'console/services': ['console/api', 'console/layout', 'console/pods', 'console/texts', 'shared/kube'],
  'console/resources': ['console/api', 'console/layout', 'console/pods', 'console/texts', 'shared/kube'],
  // A job page has the layout of the fleet map.
  'console/jobs': [
    'console/api',
    'console/fleet',
    'console/layout',
    'console/pods',
    'console/texts',
    'shared/kube',
  ],
  'console/values': [
    'console/api',
    'console/daemonsets',
    'console/layout',
    'console/pods',
    'console/texts',
    'shared/kube',
  ],
  'console/hosts': [
    'console/api',
    'console/availability',
    'console/charts',
    'console/jobs',
    'console/layout',
    'console/pods',
    'console/timeline',
    'console/values',
    'console/texts',
    'shared/kube',
  ],
  'console/rollouts': ['console/api', 'console/layout', 'console/timeline', 'console/texts', 'shared/kube'],
  'console/daemonsets': [
    'console/api',
    'console/layout',
    'console/pods',
    'console/timeline',
    'console/texts',
    'shared/kube',
  ],
  'agent/node': [
    'agent/decisions',
    'agent/runtime/runtime-driver.ts',
    'shared/kube',
    'shared/link',
    'shared/process',
  ],
};

/** Files next to the rooms (main.ts, settings.ts …) may import everything of their own side. */
const SIDE_FILES: Record<string, readonly string[]> = {
  coordinator: ['coordinator', 'shared'],
  agent: ['agent', 'shared'],
  console: ['console', 'shared/kube'],
};

function sources(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return sources(path);
    return /(?<!\.d)\.tsx?$/.test(entry.name) ? [path] : [];
  });
}

function textOf(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8');
}

function codeOf(file: string): string {
  return textOf(file).replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
}

function importsOf(file: string): string[] {
  const specifiers = [...textOf(file).matchAll(/(?:from|import)\s*\(?\s*'(\.{1,2}\/[^']+)'/g)].map(
    (match) => match[1] ?? '',
  );
  return specifiers.map((specifier) => sourceOf(relative(ROOT, resolve(ROOT, dirname(file), specifier))));
}

/** Returns what is loaded with the file: no types, and nothing that a function imports. */
function staticImportsOf(file: string): string[] {
  const found = codeOf(file).matchAll(/^(?:import|export) (?!type )(?:[^'";]*from )?'(\.{1,2}\/[^']+)'/gm);
  return [...found].map(([, path = '']) => sourceOf(relative(ROOT, resolve(ROOT, dirname(file), path))));
}

/** The source file of a compiled file. */
function sourceOf(path: string): string {
  const source = path.replace(/\.js$/, '.ts');
  return existsSync(join(ROOT, source)) ? source : `${source}x`;
}

function roomOf(file: string): string {
  const parts = file.split('/');
  return parts.length > 2 ? `${parts[0]}/${parts[1]}` : (parts[0] ?? '');
}

function isAllowed(file: string, target: string): boolean {
  const room = roomOf(file);
  if (roomOf(target) === room) return true;
  const allowed = MAY_IMPORT[room] ?? SIDE_FILES[room] ?? [];
  return allowed.some((prefix) => target === prefix || target.startsWith(`${prefix}/`));
}

const FILES = ['shared', 'coordinator', 'agent', 'console'].flatMap(sources);

test('each room imports only the rooms in its row of the table', () => {
  const offences = FILES.flatMap((file) =>
    importsOf(file)
      .filter((target) => !isAllowed(file, target))
      .map((target) => `${file} imports ${target}`),
  );
  assert.deepEqual(offences, []);
});

test('every room has a row in the import table', () => {
  const rooms = new Set(FILES.map(roomOf).filter((room) => room.includes('/')));
  const missing = [...rooms].filter((room) => !Object.hasOwn(MAY_IMPORT, room));
  assert.deepEqual(missing, []);
});

/** A longer list of files is searched instead of read. */
const MOST_FILES_SIDE_BY_SIDE = 20;

test('no folder holds more than twenty source files side by side', () => {
  const counts = new Map<string, number>();
  for (const file of [...FILES, ...sources('test')])
    counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1);
  const crowded = [...counts].filter(([, count]) => count > MOST_FILES_SIDE_BY_SIDE);
  assert.deepEqual(crowded, []);
});

test('a file name is unique in the tree', () => {
  const byName = new Map<string, string[]>();
  for (const file of [...FILES, ...sources('test')]) {
    const name = basename(file).replace(/\.tsx?$/, '');
    if (name !== 'index') byName.set(name, [...(byName.get(name) ?? []), file]);
  }
  assert.deepEqual(
    [...byName.values()].filter((files) => files.length > 1),
    [],
  );
});

test('the source has no import cycle', () => {
  const done = new Set<string>();
  const visit = (file: string, path: readonly string[]): void => {
    const start = path.indexOf(file);
    assert.equal(start, -1, `cycle: ${[...path.slice(Math.max(start, 0)), file].join(' → ')}`);
    if (done.has(file)) return;
    for (const target of importsOf(file)) visit(target, [...path, file]);
    done.add(file);
  };
  for (const file of FILES) visit(file, []);
});

test('commands of the command line start without the expressions of the API, which take 0.15 s of CPU to load', () => {
  const loaded = new Set<string>();
  const visit = (file: string): void => {
    if (loaded.has(file)) return;
    loaded.add(file);
    for (const target of staticImportsOf(file)) visit(target);
  };
  visit('coordinator/cli/everynode.ts');
  assert.ok(loaded.has('coordinator/cli/commands/plan-command.ts'));
  assert.deepEqual(
    [...loaded].filter((file) => roomOf(file) === 'coordinator/cel'),
    [],
  );
});

test('every export is used by another file', () => {
  const filesWith = new Map<string, number>();
  for (const file of [...FILES, ...sources('test')])
    for (const word of new Set(codeOf(file).match(/\w+/g)))
      filesWith.set(word, (filesWith.get(word) ?? 0) + 1);
  const exported = /^export (?:async |abstract )*(?:class|const|function|interface|type) (\w+)/gm;
  const offences = FILES.flatMap((file) =>
    [...codeOf(file).matchAll(exported)]
      .filter(([, name = '']) => filesWith.get(name) === 1)
      .map(([, name]) => `${file} exports ${name}`),
  );
  assert.deepEqual(offences, []);
});

test('decisions are pure: no clock, no randomness, no waiting', () => {
  const impure =
    /\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b|\basync\b|\bawait\b|\bsetTimeout\b|\bprocess\./;
  const offences = FILES.filter((file) => file.includes('/decisions/')).filter((file) =>
    impure.test(codeOf(file)),
  );
  assert.deepEqual(offences, []);
});

/** Sources of time and randomness, and waits for a whole program, a system socket or a thread. */
const OWN_TIME = [
  'shared/process/',
  'coordinator/cli/',
  'coordinator/hub/identity/new-join-token.ts',
  'coordinator/store/sqlite/',
  'coordinator/store/start-reserve.ts',
  'test/harness/controllers/memory-store.ts',
  'coordinator/api/',
  'console/',
  'agent/program/agent-data-directory.ts',
  'agent/link/server-trust.ts',
  'agent/runtime/network-dialer.ts',
  'agent/runtime/docker/docker-events.ts',
  'agent/runtime/docker/docker-exec.ts',
  'agent/simulate/',
];

test('clocks and randomness are passed in, so that a simulation can repeat a run', () => {
  const own =
    /\bDate\.now\b|\bperformance\.now\b|\bsetTimeout\b|\bsetImmediate\b|\bsetInterval\b|\bMath\.random\b|\brandomUUID\b/;
  const offences = FILES.filter((file) => !OWN_TIME.some((prefix) => file.startsWith(prefix))).filter(
    (file) => own.test(codeOf(file)),
  );
  assert.deepEqual(offences, []);
});
