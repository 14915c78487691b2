/** An operator written with @dot-i/k8s-operator: CRD, reconcile, finalizer and status. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import type { ConformanceFleet } from '../../conformance/scenarios/conformance-fleet.js';
import { until } from '../../harness/basics/wait-until.js';
import { type ClientCheck, describeClient } from '../../harness/clients/client-program.js';
import { npmPackage } from '../../harness/clients/npm-package.js';

const VERSION = '1.3.9';
const PROGRAMS = resolve(import.meta.dirname, '../programs');
const PATIENCE_MS = 30_000;
const IMAGE = 'jsonpath={.spec.template.spec.containers[0].image}';

const found = npmPackage('@dot-i/k8s-operator', VERSION);

const probe = (image: string) =>
  `{apiVersion: operator.example.com/v1, kind: Probe, metadata: {name: disk}, spec: {image: "${image}"}}`;

/** Title, command of kubectl, what its output becomes, and the standard input. A `!` before the command: it fails. */
const STEPS: readonly (readonly [string, string, RegExp, string?])[] = [
  ['the operator registers its CRD', 'get crd probes.operator.example.com', /probes/],
  [
    'an object without a required field is refused',
    '!apply -f -',
    /spec.image: Required value/,
    '{apiVersion: operator.example.com/v1, kind: Probe, metadata: {name: bad}, spec: {}}',
  ],
  ['an object is created', 'apply -f -', /probe.operator.example.com\/disk created/, probe('app:1')],
  ['the operator adds its finalizer', 'get probe disk -o jsonpath={.metadata.finalizers}', /cleanup/],
  ['the operator creates a ConfigMap of the object', 'get configmap disk -o jsonpath={.data.name}', /^disk$/],
  [
    'the operator creates a DaemonSet, which runs',
    'rollout status daemonset/disk --timeout=30s',
    /successfully/,
  ],
  ['the status names the generation, in a column too', 'get probe disk', /runs app:1/],
  ['a change of the object', 'apply -f -', /configured/, probe('app:2')],
  ['the operator changes the DaemonSet', `get daemonset disk -o ${IMAGE}`, /^app:2$/],
  ['the status names the new generation', 'get probe disk -o jsonpath={.status.observedGeneration}', /^2$/],
  ['a deletion waits for the finalizer', 'delete probe disk --timeout=30s', /deleted/],
  ['the finalizer deleted the DaemonSet', '!get daemonset disk', /not found/],
  ['the garbage collector deletes the ConfigMap', '!get configmap disk', /not found/],
];

async function stepCheck(fleet: ConformanceFleet, step: (typeof STEPS)[number]): Promise<ClientCheck> {
  const [title, text, expected, input] = step;
  const command = text.replace('!', '').split(' ');
  const attempt = async () => {
    const { code, stdout, stderr } = await fleet.kubectl.run(command, input);
    const isExpected = expected.test(`${stdout}${stderr}`.trim()) && (code === 0) === !text.startsWith('!');
    return isExpected || `exit ${code}: ${stdout}${stderr}`;
  };
  try {
    await until(attempt, { what: title, timeoutMs: PATIENCE_MS, pollMs: 250 });
    return { title };
  } catch (error) {
    return { title, error: String(error) };
  }
}

describeClient(
  'an operator registers its CRD, reconciles, writes the status and cleans up by its finalizer',
  '@dot-i/k8s-operator',
  'why' in found ? found : { version: VERSION },
  async (fleet) => {
    assert.ok('path' in found);
    const program = [`${PROGRAMS}/operator.mjs`, `${PROGRAMS}/probe-definition.yaml`];
    const operator = spawn(process.execPath, program, {
      env: { ...process.env, KUBECONFIG: fleet.kubeconfigPath, CLIENT_MODULES: found.path },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let log = '';
    operator.stderr.on('data', (chunk: Buffer) => {
      log += chunk.toString();
    });
    const checks: ClientCheck[] = [];
    for (const step of STEPS) checks.push(await stepCheck(fleet, step));
    const isRunning = operator.exitCode === null;
    operator.kill();
    const hasFailed = !isRunning || checks.some(({ error }) => error !== undefined);
    const error = hasFailed ? `exit code ${operator.exitCode}: ${log}` : undefined;
    return [...checks, { title: 'the operator ran until the end', error }];
  },
);
