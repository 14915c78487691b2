/** Builds the image of a host with the engine in its argument. `hostImage` runs it, one at a time. */
import type { EngineKind } from '../engines/test-engines.js';
import { buildHostImage } from './host-image.js';

buildHostImage(process.argv[2] as EngineKind);
