/**
 * `kpt live` with a real kpt: its inventory is a custom resource, and it waits for each object by the rules of kstatus.
 * A definition and an object of it are in one package.
 */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';
import {
  type ClientCheck,
  describeClient,
  programVersion,
  runProgram,
} from '../../harness/clients/client-program.js';

const FILES = {
  Kptfile: { apiVersion: 'kpt.dev/v1', kind: 'Kptfile', metadata: { name: 'package' } },
  'config.yaml': {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'from-kpt', namespace: 'default' },
    data: { a: 'b' },
  },
  'definition.yaml': {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'gauges.store.example.com' },
    spec: {
      ...{ group: 'store.example.com', scope: 'Namespaced' },
      names: { plural: 'gauges', singular: 'gauge', kind: 'Gauge' },
      versions: [
        {
          ...{ name: 'v1', served: true, storage: true },
          schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        },
      ],
    },
  },
  'gauge.yaml': {
    apiVersion: 'store.example.com/v1',
    kind: 'Gauge',
    metadata: { name: 'gauge', namespace: 'default' },
    spec: { size: 3 },
  },
  'daemonset.yaml': {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name: 'agent', namespace: 'default' },
    spec: {
      selector: { matchLabels: { app: 'agent' } },
      template: {
        metadata: { labels: { app: 'agent' } },
        spec: { containers: [{ name: 'agent', image: 'agent:1' }] },
      },
    },
  },
};

/** Each step with the text that it must print. */
const STEPS: readonly (readonly [title: string, args: string, expected: RegExp])[] = [
  ['live init', 'live init --namespace default --name inventory --inventory-id inventory-1', /success/],
  [
    'live apply waits until everything is current',
    'live apply --reconcile-timeout=60s',
    /reconcile result: 4 attempted, 4 successful, 0 skipped, 0 failed, 0 timed out/,
  ],
  ['live status', 'live status', /gauge\.store\.example\.com\/default\/gauge is Current/],
  ['a second live apply', 'live apply --reconcile-timeout=60s', /apply result: 4 attempted, 4 successful/],
];

describeClient(
  'kpt live',
  'kpt',
  programVersion('kpt', ['version'], /^v?(\d\S*)/m),
  async ({ kubeconfigPath }) => {
    const directory = temporaryDirectory();
    const environment = { KUBECONFIG: kubeconfigPath, HOME: temporaryDirectory() };
    for (const [name, content] of Object.entries(FILES))
      writeFileSync(join(directory, name), JSON.stringify(content));
    const run = async (args: string): Promise<{ code: number; output: string }> => {
      const [verb = '', ...rest] = args.split(' ');
      const words = [verb, rest[0] ?? '', directory, ...rest.slice(1)];
      const { code, stdout, stderr } = await runProgram('kpt', words, environment);
      return { code, output: `${stdout}${stderr}` };
    };
    const checks: ClientCheck[] = [];
    const check = async (title: string, args: string, expected: RegExp): Promise<void> => {
      const { code, output } = await run(args);
      const error = code === 0 && expected.test(output) ? undefined : output;
      checks.push({ title, error });
    };
    for (const step of STEPS) await check(...step);
    rmSync(join(directory, 'gauge.yaml'));
    await check(
      'live apply prunes a custom resource that left the package',
      'live apply --prune-timeout=60s',
      /gauge\.store\.example\.com\/gauge prune successful/,
    );
    await check('live destroy', 'live destroy', /delete result: 3 attempted, 3 successful/);
    return checks;
  },
);
