/** The table of clients in docs/clients.md, which `npm run compatibility` writes. */
import { CLIENT_NAMES } from './client-binaries.js';

export const TABLE_BEGIN = '<!-- clients: written by npm run compatibility -->';
export const TABLE_END = '<!-- end of clients -->';

/** Beginnings of the names of clients that must have run. */
export const EXPECTED_CLIENTS: readonly string[] = [
  ...CLIENT_NAMES,
  '@kubernetes/client-node-',
  'python3-kubernetes-',
  'ansible-kubernetes.core-',
  'kubernetes-mcp-server-',
  'kubernetes-fluent-client-',
  '@dot-i/k8s-operator-',
  'cdk8s-',
  'kubecolor-',
  'kubetail-',
  'terraform-',
  'upstream-e2e-',
];

/** Clients without a test, and the reason. */
const NOT_TRIED: readonly (readonly [string, string])[] = [
  ['terraform-provider-kubernetes', 'neither npm nor Debian has the program'],
];

/** What ran of one client. */
export interface ClientRun {
  /** Titles of the groups of tests. */
  what: Set<string>;
  passed: number;
  /** Names of the tests that failed. */
  failed: string[];
  /** Why the client did not run. */
  skipped: string | undefined;
}

function result({ passed, failed, skipped }: ClientRun): string {
  const total = passed + failed.length;
  if (total === 0) return `not run: ${skipped ?? 'no test ran'}`;
  return failed.length === 0
    ? `${passed} of ${total} passed`
    : `${passed} of ${total} passed; failed: ${failed.join(', ')}`;
}

/** Returns the table as Markdown: one row for each client, and one for each client that did not run. */
export function clientTable(runs: ReadonlyMap<string, ClientRun>): string {
  const ran = [...runs].map(([name, run]) => {
    const [, program = name, version = ''] = /^(.*)-([^-]+)$/.exec(name) ?? [];
    return `| ${program} | ${version} | ${[...run.what].join('; ')} | ${result(run)} |`;
  });
  const missing = EXPECTED_CLIENTS.filter(
    (client) => ![...runs.keys()].some((name) => name.startsWith(client)),
  );
  const others = [...missing.map((client) => [client, 'no test ran'] as const), ...NOT_TRIED];
  const rows = others.map(([client, why]) => `| ${client} | | nothing | not run: ${why} |`);
  return ['| client | version | what was run | result |', '|---|---|---|---|', ...ran, ...rows].join('\n');
}
