/** Tells the engine's absence from its refusals. */
import { RuntimeError } from '../../runtime/runtime-driver.js';

/** True for the engine's absence, which says nothing about what was asked. */
export function isEngineDown(error: unknown): boolean {
  return error instanceof RuntimeError && error.reason === 'EngineDown';
}
