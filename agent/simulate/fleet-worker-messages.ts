/** What the process that talks to the user and those that hold the hosts say to each other. */
import type { ExitCode } from '../../shared/process/exit-error.js';
import type { NodeTemplate } from './node-templates.js';
import type { NodeCounts } from './simulated-node.js';

/** To a process of hosts. `start` comes first and once; the end of the channel means stop. */
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

/** From a process of hosts. `performed`: how many hosts a command meant. */
export type FromFleetWorker =
  | { kind: 'counts'; counts: NodeCounts }
  | { kind: 'started' }
  | { kind: 'performed'; nodes: number }
  /** For a person to read. */
  | { kind: 'remark'; text: string }
  | { kind: 'failed'; code: ExitCode; message: string };
