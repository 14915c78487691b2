/**
 * A host with two Pods on a bridge, and two more hosts on its LAN, as network namespaces without an engine. The rules of
 * the machine itself are not touched.
 */
import type { ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { ProxyNode } from '../../../agent/decisions/netfilter/service-targets.js';
import { run } from '../processes/run-system-command.js';
import type { PeerRequest, PeerResponse } from './namespace-peer.js';
import { ended, forkIn, ProxyProcess } from './proxy-process-control.js';

const NEEDED = ['/usr/sbin/nft', '/usr/sbin/conntrack', '/sbin/ip'];

export const ADDRESSES = {
  host: '10.78.0.1',
  remote: '10.78.0.2',
  client: '10.78.0.3',
  podA: '10.77.0.2',
  podB: '10.77.0.3',
} as const;
/** The node of the namespace `host`. */
export const HOST_NODE: ProxyNode = { name: 'host', zone: '', addresses: [ADDRESSES.host] };
export type Place = keyof typeof ADDRESSES;

/** Returns the reason why this machine cannot run the network, or undefined. */
export function whyNoNamespaces(): string | undefined {
  if (process.getuid?.() !== 0) return 'needs root';
  const missing = NEEDED.filter((path) => !existsSync(path));
  return missing.length > 0 ? `needs ${missing.join(', ')} (see .ci/packages)` : undefined;
}

type WithoutId<T> = T extends unknown ? Omit<T, 'id'> : never;

/** A process in a namespace: server and client. */
export class Peer {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, (answers: string[]) => void>();
  #lastId = 0;

  constructor(namespace: string) {
    this.#child = forkIn(namespace, 'namespace-peer.js');
    this.#child.on('message', ({ id, answers }: PeerResponse) => this.#waiting.get(id)?.(answers));
  }

  async listen(port: number, name: string): Promise<void> {
    await this.#request({ kind: 'listen', port, name });
  }

  /** Connects this many times, one after another. Resolves with the answers. */
  async ask(address: string, port: number, times = 1): Promise<string[]> {
    return this.#request({ kind: 'ask', protocol: 'tcp', address, port, times });
  }

  /** Sends datagrams, from one port of the client if `from` is given. */
  async askUdp(address: string, port: number, { times = 1, from = 0 } = {}): Promise<string[]> {
    return this.#request({ kind: 'ask', protocol: 'udp', address, port, times, from });
  }

  /** Opens the connection that `talk` uses. Resolves with the first answer. */
  async open(address: string, port: number): Promise<string> {
    return (await this.#request({ kind: 'open', address, port }))[0] ?? '';
  }

  /** Sends over the open connection. Resolves with the answer. */
  async talk(): Promise<string> {
    return (await this.#request({ kind: 'talk' }))[0] ?? '';
  }

  /** Starts a server that reads and answers nothing. */
  async drain(port: number): Promise<void> {
    await this.#request({ kind: 'drain', port });
  }

  /** Resolves with the ms until a server of `drain` has read this many bytes. */
  async fill(address: string, port: number, bytes: number): Promise<number> {
    return Number((await this.#request({ kind: 'fill', address, port, bytes }))[0]);
  }

  /** Resolves with the ms of each handshake. */
  async connect(address: string, port: number, times: number): Promise<number[]> {
    return (await this.#request({ kind: 'connect', address, port, times })).map(Number);
  }

  async #request(request: WithoutId<PeerRequest>): Promise<string[]> {
    this.#lastId += 1;
    const id = this.#lastId;
    const answers = new Promise<string[]>((resolve) => this.#waiting.set(id, resolve));
    this.#child.send({ ...request, id });
    return answers;
  }

  async close(): Promise<void> {
    await ended(this.#child, 'SIGKILL');
  }
}

export class NamespaceNetwork {
  readonly #peers = new Map<Place, Peer>();
  readonly proxy: ProxyProcess;

  private constructor(private readonly prefix: string) {
    this.proxy = new ProxyProcess(this.namespace('host'));
  }

  static create(): NamespaceNetwork {
    const network = new NamespaceNetwork(`ens${process.pid}`);
    network.#build();
    return network;
  }

  namespace(place: Place | 'lan'): string {
    return `${this.prefix}-${place}`;
  }

  peer(place: Place): Peer {
    const peer = this.#peers.get(place) ?? new Peer(this.namespace(place));
    this.#peers.set(place, peer);
    return peer;
  }

  /** Runs a command on the host. */
  onHost(...command: string[]): string {
    return run('ip', 'netns', 'exec', this.namespace('host'), ...command);
  }

  async close(): Promise<void> {
    await this.proxy.kill();
    for (const peer of this.#peers.values()) await peer.close();
    for (const place of ['lan', 'host', 'remote', 'client', 'podA', 'podB'] as const)
      run('ip', 'netns', 'del', this.namespace(place));
  }

  #build(): void {
    const ip = (place: Place | 'lan', command: string): string =>
      run('ip', '-n', this.namespace(place), ...command.split(' '));
    for (const place of ['lan', 'host', 'remote', 'client', 'podA', 'podB'] as const) {
      run('ip', 'netns', 'add', this.namespace(place));
      ip(place, 'link set lo up');
    }
    for (const [place, bridge, gateway] of [
      ['lan', 'lan0', '10.78.0.254'],
      ['host', 'pods0', '10.77.0.1'],
    ] as const) {
      ip(place, `link add ${bridge} type bridge`);
      ip(place, `addr add ${gateway}/24 dev ${bridge}`);
      ip(place, `link set ${bridge} up`);
    }
    const attach = (place: Place, to: 'lan' | 'host', bridge: string, gateway: string): void => {
      ip(place, `link add eth0 type veth peer name ve-${place} netns ${this.namespace(to)}`);
      ip(to, `link set ve-${place} master ${bridge} up`);
      ip(place, `addr add ${ADDRESSES[place]}/24 dev eth0`);
      ip(place, 'link set eth0 up');
      ip(place, `route add default via ${gateway}`);
    };
    for (const place of ['host', 'remote', 'client'] as const) attach(place, 'lan', 'lan0', '10.78.0.254');
    for (const place of ['podA', 'podB'] as const) attach(place, 'host', 'pods0', '10.77.0.1');
    // As a container engine does on its host.
    this.onHost('sysctl', '-qw', 'net.ipv4.ip_forward=1');
    this.onHost(
      'nft',
      'add table ip engine; add chain ip engine post { type nat hook postrouting priority 100; }; add rule ip engine post ip saddr 10.77.0.0/24 oifname != "pods0" masquerade',
    );
  }
}
