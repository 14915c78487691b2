/**
 * Passes connections from other hosts to this host's Pods, for Pods without a hostPort. It works on every engine and with
 * every firewall of the engine, because the host itself always reaches its containers. Connections end with the agent.
 */
import { createServer, type Server, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Logger } from '../../shared/process/output/logger.js';
import { type Clock, every } from '../../shared/process/time/clock.js';
import type { HostService } from '../decisions/services/host-service.js';
import { type RelayedPort, type RelayTarget, relayedPorts } from '../decisions/services/relay-targets.js';

/** Limit of connections through one relay port. Each needs two file descriptors. */
const MAX_CONNECTIONS = 500;
/** Interval of checks of the host's addresses, and of attempts to listen at a port that was in use. */
const CHECK_MS = 60_000;
/** A peer that vanished without a word is noticed after about this time. */
const KEEP_ALIVE_MS = 60_000;

interface ServiceRelayDeps {
  services: { all(): Iterable<HostService>; onChange(listener: () => void): void };
  /** Connects to a Pod of this host. Rejects if it refuses. */
  dial: (target: RelayTarget) => Promise<Duplex>;
  /** The node's own addresses, at which other hosts reach it. */
  addresses: () => readonly string[];
  clock: Clock;
  log: Logger;
}

/** A port of one address. */
interface Listener {
  server: Server;
  relayed: RelayedPort;
  /** Open connections with their targets. */
  connections: Map<Socket, RelayTarget>;
  next: number;
}

export class ServiceRelay {
  readonly #deps: ServiceRelayDeps;
  /** By `address port`. */
  readonly #listeners = new Map<string, Listener>();
  #stopChecks: (() => void) | undefined;

  constructor(deps: ServiceRelayDeps) {
    this.#deps = deps;
  }

  start(): void {
    this.#deps.services.onChange(() => this.#stopChecks && this.#update());
    this.#stopChecks = every(this.#deps.clock, CHECK_MS, () => this.#update());
    this.#update();
  }

  stop(): void {
    this.#stopChecks?.();
    this.#stopChecks = undefined;
    for (const place of [...this.#listeners.keys()]) this.#close(place);
  }

  /** Makes the listeners match the Services. */
  #update(): void {
    const ports = relayedPorts(this.#deps.services.all());
    const wanted = new Map<string, [address: string, port: number, relayed: RelayedPort]>();
    for (const address of this.#deps.addresses())
      for (const [port, relayed] of ports) wanted.set(`${address} ${port}`, [address, port, relayed]);
    for (const place of [...this.#listeners.keys()]) if (!wanted.has(place)) this.#close(place);
    for (const [place, [address, port, relayed]] of wanted) {
      const listener = this.#listeners.get(place);
      if (listener) this.#refresh(listener, relayed);
      else this.#listen(place, address, port, relayed);
    }
  }

  #listen(place: string, address: string, port: number, relayed: RelayedPort): void {
    const { log } = this.#deps;
    const server = createServer({ allowHalfOpen: true, pauseOnConnect: true });
    const listener: Listener = { server, relayed, connections: new Map(), next: 0 };
    server.maxConnections = MAX_CONNECTIONS;
    server.on('connection', (client) => void this.#relay(listener, client));
    server.on('error', (error) => {
      log.warn({ service: relayed.service, address, port, err: error }, 'relay port cannot be opened');
      if (this.#listeners.get(place) === listener) this.#listeners.delete(place);
    });
    server.listen({ host: address, port }, () =>
      log.info({ service: relayed.service, address, port }, 'relay port opened'),
    );
    this.#listeners.set(place, listener);
  }

  /** A connection to a Pod that is removed would otherwise stay open until its timeout. */
  #refresh(listener: Listener, relayed: RelayedPort): void {
    listener.relayed = relayed;
    for (const [client, target] of listener.connections)
      if (!relayed.present.some((each) => isSame(each, target))) client.destroy();
  }

  #close(place: string): void {
    const listener = this.#listeners.get(place);
    this.#listeners.delete(place);
    listener?.server.close();
    for (const client of listener?.connections.keys() ?? []) client.destroy();
  }

  async #relay(listener: Listener, client: Socket): Promise<void> {
    const { targets } = listener.relayed;
    const target = targets[listener.next++ % targets.length];
    client.on('error', () => client.destroy());
    if (!target) {
      client.destroy();
      return;
    }
    listener.connections.set(client, target);
    client.once('close', () => listener.connections.delete(client));
    try {
      const pod = await this.#deps.dial(target);
      connectStreams(client, pod);
    } catch (error) {
      this.#deps.log.debug(
        { service: listener.relayed.service, err: error },
        'relayed Pod cannot be reached',
      );
      client.destroy();
    }
  }
}

/** Each side's end is passed on, so that a client may send its request and close before it reads the response. */
function connectStreams(client: Socket, pod: Duplex): void {
  pod.on('error', () => pod.destroy());
  pod.once('close', () => client.destroySoon());
  client.once('close', () => pod.destroy());
  if (client.destroyed) {
    pod.destroy();
    return;
  }
  client.setKeepAlive(true, KEEP_ALIVE_MS);
  client.pipe(pod);
  pod.pipe(client);
}

function isSame(one: RelayTarget, other: RelayTarget): boolean {
  return one.address === other.address && one.port === other.port;
}
