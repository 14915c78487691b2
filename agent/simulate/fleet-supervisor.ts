/** Starts and steers the worker processes of a simulated fleet. */
import { type ChildProcess, spawn } from 'node:child_process';
import { EXIT_CODES, ExitError } from '../../shared/process/exit-error.js';
import { type ChildProgram, childArguments } from '../../shared/process/service/child-program.js';
import type { FromFleetWorker, ToFleetWorker } from './fleet-worker-messages.js';
import type { NodeTemplate } from './node-templates.js';
import type { SimulateSettings } from './simulate-settings.js';
import type { NodeCounts } from './simulated-node.js';

/** The program of a worker process. */
export const FLEET_WORKER: ChildProgram = {
  name: 'fleet-worker',
  module: new URL('./fleet-worker.js', import.meta.url),
};

interface HostsProcess {
  child: ChildProcess;
  counts: NodeCounts;
  ended: Promise<void>;
}

export class FleetSupervisor {
  readonly #processes: HostsProcess[];
  readonly #warn: (text: string) => void;
  #waiting: { left: number; nodes: number; resolve: (nodes: number) => void } | undefined;
  #toStart: number;
  /** Rejects with an `ExitError` when a worker fails. Never resolves. */
  readonly failed: Promise<never>;
  #fail: (error: Error) => void = () => undefined;
  #isStopping = false;

  /** Starts the workers, each with its share of the nodes. `warn` gets warnings about single hosts or Pods. */
  constructor(
    settings: SimulateSettings,
    templates: readonly NodeTemplate[],
    warn: (text: string) => void = () => undefined,
  ) {
    this.#warn = warn;
    this.failed = new Promise((_, reject) => {
      this.#fail = reject;
    });
    const share = Math.ceil(templates.length / settings.processes);
    const starts = Array.from({ length: Math.ceil(templates.length / share) }, (_, index) => index * share);
    this.#toStart = starts.length;
    this.#processes = starts.map((firstIndex) =>
      this.#start({
        kind: 'start',
        server: settings.server ?? '',
        token: settings.token ?? '',
        templates: templates.slice(firstIndex, firstIndex + share),
        firstIndex,
        speed: settings.speed,
        certificates: settings.certificates,
        logLevel: settings.logLevel,
      }),
    );
  }

  /** True when every host has connected, or has had its time to. */
  get isStarted(): boolean {
    return this.#toStart === 0;
  }

  counts(): NodeCounts {
    const sum = { live: 0, refused: 0, pods: 0, running: 0 };
    for (const { counts } of this.#processes) {
      sum.live += counts.live;
      sum.refused += counts.refused;
      sum.pods += counts.pods;
      sum.running += counts.running;
    }
    return sum;
  }

  /** Sends a command to all workers. Only one may be in progress. Resolves with the number of selected hosts. */
  command(line: string): Promise<number> {
    return new Promise((resolve) => {
      this.#waiting = { left: this.#processes.length, nodes: 0, resolve };
      for (const { child } of this.#processes) send(child, { kind: 'command', line });
    });
  }

  /** Resolves when all workers have exited. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    for (const { child } of this.#processes) if (child.connected) child.disconnect();
    await Promise.all(this.#processes.map(({ ended }) => ended));
  }

  #start(order: ToFleetWorker): HostsProcess {
    // Without the agent's Node flags, which suit one agent on a small host.
    const child = spawn(process.execPath, childArguments(FLEET_WORKER), {
      stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    });
    const ended = new Promise<void>((resolve) => child.on('exit', () => resolve()));
    const hosts: HostsProcess = { child, counts: { live: 0, refused: 0, pods: 0, running: 0 }, ended };
    child.on('message', (message: FromFleetWorker) => this.#received(hosts, message));
    child.on('exit', (code, signal) => {
      if (!this.#isStopping)
        this.#fail(
          new ExitError(
            EXIT_CODES.unexpected,
            `A worker process of the simulation ended with ${code ?? signal}.`,
          ),
        );
    });
    send(child, order);
    return hosts;
  }

  #received(hosts: HostsProcess, message: FromFleetWorker): void {
    switch (message.kind) {
      case 'counts':
        hosts.counts = message.counts;
        return;
      case 'started':
        this.#toStart -= 1;
        return;
      case 'performed':
        this.#performed(message.nodes);
        return;
      case 'warning':
        this.#warn(message.text);
        return;
      case 'failed':
        this.#fail(new ExitError(message.code, message.message));
        return;
    }
  }

  #performed(nodes: number): void {
    const waiting = this.#waiting;
    if (!waiting) return;
    waiting.nodes += nodes;
    waiting.left -= 1;
    if (waiting.left === 0) waiting.resolve(waiting.nodes);
  }
}

function send(child: ChildProcess, message: ToFleetWorker): void {
  // The exit of a worker is reported by its own event.
  if (child.connected) child.send(message, () => undefined);
}
