/** What the Services tests do on two hosts: join, apply manifests, and ask from Pods by name and address. */
import assert from 'node:assert/strict';
import { untilPasses } from '../../harness/basics/wait-until.js';
import type { TestHost } from '../../harness/hosts/test-hosts.js';
import { containersOf, INSTALL_COMMAND, type TwoHosts } from '../../harness/hosts/two-hosts-fixture.js';

/** The headless Service of the daemon `web`. */
export const PEERS = 'peers.default.svc.cluster.local';
export const DNS_ADDRESS = '169.254.20.53';
/** The client Pods mount /usr of their host. */
export const SHARED_FOLDER = '/usr/local/lib/everynode-test';

/** Runs a program in the client Pod of a host. Returns its output, with that of its errors. */
export function inClient(host: TestHost, script: string): string {
  const [id = ''] = containersOf(host, 'client');
  return host.run('sh', '-c', `${engineOf(host)} exec ${id} ${script} 2>&1 || true`);
}

export const engineOf = ({ engine }: TestHost): string =>
  engine === 'docker' ? 'docker' : 'podman --remote';
export const lookup = (host: TestHost, name: string): string =>
  inClient(host, `/bin/busybox nslookup ${name}`);
export const curl = (host: TestHost, url: string): string =>
  inClient(host, `/usr/bin/curl -sS --max-time 5 ${url}`);

/** Sends requests one after another, each over its own connection. Returns the answers: one line each. */
export function curlTimes(host: TestHost, url: string, times: number): string[] {
  const options = '-sS --max-time 5 -H "Connection: close"';
  return inClient(host, `/usr/bin/curl ${options} "${url}?[1-${times}]"`).split('\n');
}

/** Returns the addresses that busybox's resolver finds for a name. */
export function addressesOf(host: TestHost, name: string): string[] {
  const [, ...answers] = lookup(host, name).split(/^Name:/m);
  return [...answers.join('').matchAll(/^Address(?: \d+)?: ([\d.]+)$/gm)]
    .map(([, address = '']) => address)
    .sort();
}

export function clusterIpOf({ kubectl }: TwoHosts, name: string): Promise<string> {
  return kubectl.ok(`get svc ${name} -o jsonpath={.spec.clusterIP}`);
}

/** Joins both hosts as services, applies the manifests and waits for the DaemonSets. */
export async function joinAndDeploy(
  all: TwoHosts,
  manifests: readonly string[],
  daemonSets: readonly string[],
): Promise<void> {
  for (const host of [all.one, all.two]) {
    const line = (await all.joinLine()).replace('everynode-agent', INSTALL_COMMAND.join(' '));
    host.run('sh', '-c', line);
  }
  for (const text of manifests) await all.kubectl.ok('apply -f -', text);
  for (const name of daemonSets) await all.kubectl.ok(`rollout status ds/${name} --timeout=120s`);
}

/** Resolves with a file's text once the file on the host is not empty. */
export async function fileOf(host: TestHost, path: string, timeoutMs?: number): Promise<string> {
  let text = '';
  await untilPasses(() => {
    text = host.run('sh', '-c', `cat ${path} 2>/dev/null || true`);
    assert.notEqual(text, '');
  }, timeoutMs);
  return text;
}

/** Returns the time since `from` in seconds. */
export const elapsed = (from: number): string => `${((performance.now() - from) / 1000).toFixed(1)} s`;

/** Asserts that names have the addresses of both nodes, and that a ClusterIP reaches the daemon of the own node. */
export function assertServed(all: TwoHosts, host: TestHost): void {
  assert.deepEqual(addressesOf(host, PEERS), [all.one.address, all.two.address].sort());
  assert.equal(curl(host, 'http://inner-local/').trim(), host.name);
}

/** A synchronous call would block this process, which serves the answer. */
export async function curlWhileServing(host: TestHost, url: string): Promise<string> {
  const [id = ''] = containersOf(host, 'client');
  const folder = `/tmp/push-${id.slice(0, 8)}`;
  host.runDetached(
    'sh',
    '-c',
    `${engineOf(host)} exec ${id} /usr/bin/curl -sS --max-time 20 ${url} >${folder} 2>&1`,
  );
  return fileOf(host, folder);
}
