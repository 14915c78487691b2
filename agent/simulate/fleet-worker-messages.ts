/** IPC messages between the supervisor and the workers of a simulated fleet. */
import type { ExitCode } from '../../shared/process/exit-error.js';
import type { NodeTemplate } from './node-templates.js';
import type { NodeCounts } from './simulated-node.js';

/** To a worker. `start` is the first message, and sent once. Closing the channel means stop. */
export type ToFleetWorker =
  | {
      kind: 'start';
      server: string;
      token: string;
      templates: NodeTemplate[];
      firstIndex: number;
      speed: number;
      certificates: boolean;
      logLevel: 'debug' | 'info' | 'warn' | 'error';
    }
  | { kind: 'command'; line: string };

/** From a worker. `performed` has the number of hosts that a command selected. */
export type FromFleetWorker =
  | { kind: 'counts'; counts: NodeCounts }
  | { kind: 'started' }
  | { kind: 'performed'; nodes: number }
  /** For the operator. */
  | { kind: 'warning'; text: string }
  | { kind: 'failed'; code: ExitCode; message: string };
