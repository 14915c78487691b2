/** Memory of an agent for 100 Services of 64 endpoints. */
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { whyNoNamespaces } from '../../harness/netfilter/namespace-network.js';
import type { BenchContext } from '../bench-section.js';
import type { ServiceMemory } from './service-memory.js';

const PROGRAM = fileURLToPath(new URL('service-memory.js', import.meta.url));
const MB = 1024 * 1024;

export async function measureServiceMemory({ report, progress, skip }: BenchContext): Promise<void> {
  const why = whyNoNamespaces();
  if (why !== undefined) return skip('memory for Services', why);
  progress('memory for Services');
  const memory = await inOwnNamespace();
  const result = { section: 'parts', unit: 'MB', floor: [] } as const;
  const services = '100 Services of 64 endpoints with ClusterIPs';
  report({
    ...{ ...result, name: `memory of an agent for ${services}`, goal: { kind: 'product', most: 2 } },
    product: [(memory.table + memory.rules + memory.answers) / MB],
  });
  for (const [what, bytes] of [
    ['the table', memory.table],
    ['the rules and their kept listing', memory.rules],
    ['their cached DNS answers', memory.answers],
  ] as const)
    report({ ...result, name: `of that, ${what}`, product: [bytes / MB] });
}

/** Resolves with the bytes of each part. */
function inOwnNamespace(): Promise<ServiceMemory> {
  const execArgv = ['--net', process.execPath, '--expose-gc'];
  const child = fork(PROGRAM, [], { execPath: 'unshare', execArgv });
  return new Promise((resolve, reject) => {
    child.once('message', (message) => resolve(message as ServiceMemory));
    child.once('exit', (code) => reject(new Error(`the process ended with ${code}`)));
  });
}
