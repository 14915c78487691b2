/** kubernetes-mcp-server, a Go program with Kubernetes' own client library, as an assistant drives it. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type ClientCheck, describeClient } from '../../harness/clients/client-program.js';
import { npmPackage } from '../../harness/clients/npm-package.js';

const VERSION = '0.0.67';
const PACKAGE = `kubernetes-mcp-server-linux-${process.arch === 'x64' ? 'amd64' : process.arch}`;
const NAMESPACE = 'default';
const POD = { name: 'ran', namespace: NAMESPACE };
const MAP = { apiVersion: 'v1', kind: 'ConfigMap', name: 'settings', namespace: NAMESPACE };
const MANIFEST = `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: ${NAMESPACE}}\n`;

/** Tool, its arguments, and a part of the answer. */
const CALLS: readonly (readonly [string, object, RegExp])[] = [
  ['namespaces_list', {}, /default/],
  ['resources_list', { apiVersion: 'v1', kind: 'Node' }, /n1/],
  ['pods_run', { ...POD, image: 'app:1' }, /kind: Pod/],
  ['pods_list', {}, /ran/],
  ['pods_get', POD, /name: ran/],
  ['resources_create_or_update', { resource: MANIFEST }, /kind: ConfigMap/],
  ['resources_get', MAP, /name: settings/],
  ['resources_delete', MAP, /deleted/],
  ['events_list', {}, /Pod/],
  ['pods_delete', POD, /deleted/],
];

interface Answer {
  id?: number;
  error?: object;
  result?: { isError?: boolean; content?: { text?: string }[] };
}

const found = npmPackage(PACKAGE, VERSION);

describeClient(
  'resources, Pods and Events',
  'kubernetes-mcp-server',
  'why' in found ? found : { version: VERSION },
  async (fleet) => {
    if ('why' in found) return [];
    const binary = join(found.path, PACKAGE, 'bin', PACKAGE);
    const child = spawn(binary, ['--kubeconfig', fleet.kubeconfigPath], {
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    let id = 0;
    const call = async (method: string, params: object): Promise<Answer> => {
      id += 1;
      child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
      for (;;) {
        const { value, done } = await lines.next();
        if (done) throw new Error(`the server ended during ${method}`);
        const answer = JSON.parse(value) as Answer;
        if (answer.id === id) return answer;
      }
    };
    try {
      const clientInfo = { name: 'test', version: '1' };
      await call('initialize', { protocolVersion: '2024-11-05', capabilities: {}, clientInfo });
      child.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
      const checks: ClientCheck[] = [];
      for (const [name, input, expected] of CALLS) {
        const answer = await call('tools/call', { name, arguments: input });
        const text = answer.result?.content?.[0]?.text ?? '';
        const isExpected = answer.result?.isError !== true && expected.test(text);
        checks.push({ title: name, error: isExpected ? undefined : JSON.stringify(answer) });
      }
      return checks;
    } finally {
      child.kill();
    }
  },
);
