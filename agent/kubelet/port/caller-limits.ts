/** Limits of the kubelet's port, so that no client of the local network can exhaust the agent. */
import { networkOf } from '../../../shared/link/peer-network.js';
import type { Clock } from '../../../shared/process/time/clock.js';

/** Allows `rate` events per second, and `burst` at once. */
export class TokenBucket {
  readonly #clock: Clock;
  readonly #rate: number;
  readonly #burst: number;
  #tokens: number;
  #at: number;

  constructor(clock: Clock, rate: number, burst: number) {
    this.#clock = clock;
    this.#rate = rate;
    this.#burst = burst;
    this.#tokens = burst;
    this.#at = clock.monotonic();
  }

  /** Returns false if the event exceeds the rate. */
  take(): boolean {
    const now = this.#clock.monotonic();
    this.#tokens = Math.min(this.#burst, this.#tokens + ((now - this.#at) * this.#rate) / 1_000);
    this.#at = now;
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }
}

/** A bucket for each network of callers, so that one caller does not use up what others need. */
export class PeerBuckets {
  readonly #buckets = new Map<string, TokenBucket>();

  constructor(
    private readonly clock: Clock,
    private readonly rate: number,
    private readonly burst: number,
  ) {}

  /** Returns false if the events of this network exceed the rate. */
  take(network: string): boolean {
    const bucket = this.#buckets.get(network) ?? new TokenBucket(this.clock, this.rate, this.burst);
    // The networks that were not seen for the longest time are forgotten.
    this.#buckets.delete(network);
    this.#buckets.set(network, bucket);
    const [oldest] = this.#buckets.keys();
    if (this.#buckets.size > MAX_PEERS && oldest !== undefined) this.#buckets.delete(oldest);
    return bucket.take();
  }
}

/** A TLS handshake costs about a millisecond of a core. */
const CONNECTIONS_PER_SECOND = 10;
const CONNECTION_BURST = 30;
const MAX_OPEN_PER_PEER = 16;
const MAX_OPEN = 64;
const MAX_PEERS = 1_024;

interface Peer {
  open: number;
  bucket: TokenBucket;
}

/** Admits connections by the network of their peer: an IPv4 address, or an IPv6 /64. */
export class ConnectionLimits {
  readonly #clock: Clock;
  readonly #peers = new Map<string, Peer>();
  #open = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns a function to call when the connection is closed. Undefined: refuse the connection. */
  admit(address: string): (() => void) | undefined {
    const network = networkOf(address);
    const peer = this.#peers.get(network) ?? this.#newPeer();
    if (!peer) return undefined;
    this.#peers.set(network, peer);
    if (!peer.bucket.take() || peer.open >= MAX_OPEN_PER_PEER || this.#open >= MAX_OPEN) return undefined;
    peer.open += 1;
    this.#open += 1;
    return () => {
      peer.open -= 1;
      this.#open -= 1;
    };
  }

  /** Forgets the oldest peer without a connection. */
  #newPeer(): Peer | undefined {
    if (this.#peers.size >= MAX_PEERS) {
      const idle = [...this.#peers].find(([, { open }]) => open === 0);
      if (!idle) return undefined;
      this.#peers.delete(idle[0]);
    }
    return { open: 0, bucket: new TokenBucket(this.#clock, CONNECTIONS_PER_SECOND, CONNECTION_BURST) };
  }
}
