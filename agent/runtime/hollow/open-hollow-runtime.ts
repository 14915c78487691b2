/** Opens the hollow runtime in an agent's data directory. */
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../../shared/process/time/clock.js';
import type { ContainerOwner, RuntimeDriver } from '../runtime-driver.js';
import { serveHollowControl } from './hollow-control.js';
import { HollowDriver } from './hollow-driver.js';
import { HollowEngine } from './hollow-engine.js';
import type { ImageBehaviourRow } from './image-behaviours.js';

/** A hollow runtime with its state on disk and its control socket. */
interface HollowRuntime {
  engine: HollowEngine;
  driverFor(owner: ContainerOwner): RuntimeDriver;
  /** Closes the control socket. The simulated containers keep running. */
  close(): void;
}

/**
 * Opens `DATA/hollow/`. It contains `state.json` (containers, which survive a restart), `images.json` (optional: rows
 * of `ImageBehaviourRow`) and `control.sock` (commands, see hollow-control.ts).
 */
export async function openHollowRuntime(dataDir: string, clock: Clock): Promise<HollowRuntime> {
  const folder = join(dataDir, 'hollow');
  mkdirSync(folder, { recursive: true });
  const tableFile = join(folder, 'images.json');
  const images = existsSync(tableFile)
    ? (JSON.parse(readFileSync(tableFile, 'utf8')) as ImageBehaviourRow[])
    : [];
  const engine = new HollowEngine({ clock, images, stateFile: join(folder, 'state.json') });
  const server = await serveHollowControl(join(folder, 'control.sock'), engine);
  return {
    engine,
    driverFor: (owner) => new HollowDriver(engine, owner),
    close: () => void server.close(),
  };
}
