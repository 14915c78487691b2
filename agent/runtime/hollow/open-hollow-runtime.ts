/** A hollow node's runtime from its data directory. */
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../../shared/process/time/clock.js';
import type { ContainerOwner, RuntimeDriver } from '../runtime-driver.js';
import { serveHollowControl } from './hollow-control.js';
import { HollowDriver } from './hollow-driver.js';
import { HollowEngine } from './hollow-engine.js';
import type { ImageBehaviourRow } from './image-behaviours.js';

/** A hollow runtime that is on disk and listens for commands. */
interface HollowRuntime {
  engine: HollowEngine;
  driverFor(owner: ContainerOwner): RuntimeDriver;
  /** Stops listening; the containers "run on". */
  close(): void;
}

/**
 * Opens `DATA/hollow/`: `state.json` (containers, which outlive the process), `images.json` (optional: rows of the
 * image table, see `ImageBehaviourRow`), `control.sock` (commands, see fake-control.ts).
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
