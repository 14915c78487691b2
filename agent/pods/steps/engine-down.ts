import { RuntimeError } from '../../runtime/runtime-driver.js';

/** Returns true if the engine did not answer, in contrast to a refused request. */
export function isEngineDown(error: unknown): boolean {
  return error instanceof RuntimeError && error.reason === 'EngineDown';
}
