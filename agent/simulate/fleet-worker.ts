/** A worker process with many simulated hosts. The supervisor steers it over IPC. It exits when the channel closes. */
import { setTimeout as pause } from 'node:timers/promises';
import { EXIT_CODES, ExitError } from '../../shared/process/exit-error.js';
import { createLogger } from '../../shared/process/output/logger.js';
import { JoinError, toExitError } from '../identity/coordinator-client.js';
import type { FromFleetWorker, ToFleetWorker } from './fleet-worker-messages.js';
import { SimulatedNodeFleet } from './simulated-node-fleet.js';
import { parseCommand, performCommand } from './simulation-command.js';

const COUNTS_EVERY_MS = 500;
const LEAVE_WITHIN_MS = 5_000;

let fleet: SimulatedNodeFleet | undefined;

function send(message: FromFleetWorker): void {
  // The channel may close meanwhile. Nothing needs the message then.
  if (process.connected) process.send?.(message, () => undefined);
}

function fail(error: unknown): void {
  const { code, sentence } = error instanceof JoinError ? toExitError(error) : unexpected(error);
  send({ kind: 'failed', code, message: sentence });
}

function unexpected(error: unknown): ExitError {
  return new ExitError(EXIT_CODES.environment, error instanceof Error ? error.message : String(error));
}

async function start(order: ToFleetWorker & { kind: 'start' }): Promise<void> {
  const warn = (text: string) => send({ kind: 'warning', text });
  fleet = new SimulatedNodeFleet({ ...order, log: createLogger(order.logLevel), warn });
  const counted = fleet;
  setInterval(() => send({ kind: 'counts', counts: counted.counts() }), COUNTS_EVERY_MS);
  await fleet.start();
  send({ kind: 'started' });
}

async function command(line: string): Promise<void> {
  const parsed = parseCommand(line);
  const nodes = parsed && fleet ? await performCommand(parsed, fleet) : 0;
  send({ kind: 'performed', nodes });
}

/** Nothing here is worth saving: hosts that do not stop in time are ended with the process. */
async function stop(): Promise<void> {
  await Promise.race([fleet?.stop(), pause(LEAVE_WITHIN_MS)]);
  process.exit(0);
}

process.on('message', (message: ToFleetWorker) => {
  const done = message.kind === 'start' ? start(message) : command(message.line);
  done.catch(fail);
});
process.on('disconnect', () => void stop());
// Ctrl-C signals every process of the terminal. The supervisor ends this one.
process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => void stop());
