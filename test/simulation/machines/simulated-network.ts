/**
 * The network: WebSockets with a queue as wire. As in TCP, data arrives in order or not at all, and only connections
 * overtake each other. A cut cable delivers nothing and reports nothing: data in flight waits or is lost.
 */
import { EventEmitter } from 'node:events';
import type { ProgramLifetime, SpeedFactor } from './program-lifetime.js';
import type { SeededRandom } from './seeded-random.js';
import type { Timeline } from './timeline.js';

const ABNORMAL = 1006;
/** As the `ws` library waits for the other side's close frame. */
const CLOSE_TIMEOUT_MS = 30_000;

type Frame =
  | { kind: 'message'; bytes: Buffer }
  | { kind: 'ping' | 'pong' }
  | { kind: 'close'; code: number }
  /** The peer's system refuses the connection. */
  | { kind: 'reset' };

/** Network counts of a history. */
export interface NetworkCounts {
  frames: number;
  framesLost: number;
}

/** A host's cable. */
export class Cable {
  readonly counts: NetworkCounts;
  readonly #wires = new Set<Wire>();
  #isCut = false;
  #cutAtMs = 0;
  #mendedAtMs = 0;

  constructor(counts: NetworkCounts) {
    this.counts = counts;
  }

  get isCut(): boolean {
    return this.#isCut;
  }

  /** When it was cut, ms; undefined = it is not. */
  get cutSinceMs(): number | undefined {
    return this.#isCut ? this.#cutAtMs : undefined;
  }

  /** Since when it is whole, ms; undefined = it is not. */
  get wholeSinceMs(): number | undefined {
    return this.#isCut ? undefined : this.#mendedAtMs;
  }

  cut(nowMs: number): void {
    if (!this.#isCut) this.#cutAtMs = nowMs;
    this.#isCut = true;
  }

  reconnect(nowMs: number): void {
    if (this.#isCut) this.#mendedAtMs = nowMs;
    this.#isCut = false;
    for (const wire of this.#wires) wire.pump();
  }

  /** Ends every connection at once. Both sides notice it, and data in flight is lost. */
  reset(): void {
    for (const wire of [...this.#wires]) wire.reset();
  }

  add(wire: Wire): void {
    this.#wires.add(wire);
  }

  remove(wire: Wire): void {
    this.#wires.delete(wire);
  }
}

/** One direction of a connection. */
class Wire {
  readonly #queue: { frame: Frame; at: number }[] = [];
  #lastAt = 0;

  constructor(
    readonly cables: readonly Cable[],
    private readonly counts: NetworkCounts,
    private readonly timeline: Timeline,
    private readonly chance: SeededRandom,
    private readonly pace: SpeedFactor,
    private readonly receive: (frame: Frame) => void,
  ) {
    for (const cable of cables) cable.add(this);
  }

  carry(frame: Frame): void {
    this.counts.frames += 1;
    this.#lastAt = Math.max(this.#lastAt, this.timeline.now + this.#delayMs());
    this.#queue.push({ frame, at: this.#lastAt });
    this.timeline.after(this.#lastAt - this.timeline.now, () => this.pump());
  }

  /** Hands over what has arrived. */
  pump(): void {
    while (!this.#isCut() && (this.#queue[0]?.at ?? Number.POSITIVE_INFINITY) <= this.timeline.now) {
      const next = this.#queue.shift();
      if (next) this.receive(next.frame);
    }
  }

  /** Loses the data in flight from some point on. */
  lose(): void {
    const kept = this.chance.integer(0, this.#queue.length);
    this.counts.framesLost += this.#queue.length - kept;
    this.#queue.length = kept;
  }

  reset(): void {
    this.counts.framesLost += this.#queue.length;
    this.#queue.length = 0;
    this.receive({ kind: 'reset' });
  }

  end(): void {
    for (const cable of this.cables) cable.remove(this);
  }

  #isCut(): boolean {
    return this.cables.some(({ isCut }) => isCut);
  }

  #delayMs(): number {
    const draw = this.chance.fraction();
    const longest = draw < 0.85 ? 20 : draw < 0.98 ? 200 : 3_000;
    return this.chance.fraction() * longest * this.pace.scale;
  }
}

/** The part of the `ws` library's WebSocket that the agent's Connection and the hub's Session use. */
export class SimulatedSocket extends EventEmitter {
  readonly OPEN = 1;
  readyState = 0;
  #out: Wire | undefined;

  constructor(
    private readonly life: ProgramLifetime,
    private readonly timeline: Timeline,
    /** Whether the machine is up, with or without the program: then its system answers for a connection that is gone. */
    private readonly isMachineUp: () => boolean,
  ) {
    super();
    // A program that crashes leaves its connections to the system, which closes them; a machine that stops leaves nothing.
    life.signal.addEventListener('abort', () => {
      if (this.readyState === 3) return;
      this.readyState = 3;
      if (isMachineUp()) this.#hangUp();
    });
  }

  /** The connection is established. */
  connected(out: Wire): void {
    this.#out = out;
    this.readyState = this.OPEN;
  }

  /** The handshake is complete. */
  opened(): void {
    if (!this.life.isOver) this.emit('open');
  }

  send(bytes: Buffer, done?: () => void): void {
    if (this.readyState === this.OPEN && !this.life.isOver)
      this.#out?.carry({ kind: 'message', bytes: Buffer.from(bytes) });
    if (done) this.#tell(done);
  }

  ping(): void {
    if (this.readyState === this.OPEN && !this.life.isOver) this.#out?.carry({ kind: 'ping' });
  }

  close(code: number): void {
    if (this.readyState !== this.OPEN) return;
    this.readyState = 2;
    this.#out?.carry({ kind: 'close', code });
    this.timeline.after(CLOSE_TIMEOUT_MS, () => this.terminate());
  }

  terminate(): void {
    if (this.readyState === 3) return;
    this.readyState = 3;
    this.#hangUp();
    this.#tell(() => this.emit('close', ABNORMAL));
  }

  /** No connection came about. */
  failed(message: string): void {
    if (this.readyState === 3 || this.life.isOver) return;
    this.readyState = 3;
    this.emit('error', new Error(message));
    this.emit('close', ABNORMAL);
  }

  /** Also a program that is stopped (SIGSTOP) has its connections: it reads them when it goes on. */
  receive(frame: Frame): void {
    if (this.life.isOver) this.#receive(frame);
    else this.life.deliver(() => this.#receive(frame));
  }

  #receive(frame: Frame): void {
    if (this.readyState === 3) {
      if (frame.kind !== 'reset' && frame.kind !== 'close' && this.isMachineUp())
        this.#out?.carry({ kind: 'reset' });
      return;
    }
    switch (frame.kind) {
      case 'message':
        this.emit('message', frame.bytes, true);
        return;
      case 'ping':
        this.#out?.carry({ kind: 'pong' });
        this.emit('ping');
        return;
      case 'pong':
        this.emit('pong');
        return;
      case 'close':
        if (this.readyState === this.OPEN) this.#out?.carry(frame);
        this.#closed(frame.code);
        return;
      case 'reset':
        this.#closed(ABNORMAL);
        return;
    }
  }

  #closed(code: number): void {
    this.readyState = 3;
    this.#out?.end();
    this.emit('close', code);
  }

  #hangUp(): void {
    this.#out?.lose();
    this.#out?.carry({ kind: 'reset' });
  }

  /** In a later turn, as the library does. */
  #tell(action: () => void): void {
    this.timeline.after(0, () => this.life.isOver || action());
  }
}

/** What the connections of a world have in common. */
export interface WireConditions {
  readonly counts: NetworkCounts;
  readonly timeline: Timeline;
  readonly chance: SeededRandom;
  readonly pace: SpeedFactor;
}

/** Joins the two ends. Frames pass all of the cables. Returns a function that ends the connection as a reset does. */
export function join(
  one: SimulatedSocket,
  other: SimulatedSocket,
  cables: readonly Cable[],
  { counts, timeline, chance, pace }: WireConditions,
): () => void {
  const wires = [other, one].map(
    (receiver) => new Wire(cables, counts, timeline, chance, pace, (frame) => receiver.receive(frame)),
  );
  const [out, back] = wires as [Wire, Wire];
  one.connected(out);
  other.connected(back);
  return () => {
    for (const wire of wires) wire.reset();
  };
}
