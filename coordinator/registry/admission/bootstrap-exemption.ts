/** Writes that neither policies nor webhooks decide on. */
import type { RegistryDeps } from '../registry.js';

/**
 * Returns what a write needs. A bootstrap write gets neither policies nor webhooks: if one refused it, the coordinator
 * could not start, and without its API nobody could delete the policy or webhook.
 */
export function depsFor(deps: RegistryDeps, { isBootstrap }: { isBootstrap?: boolean }): RegistryDeps {
  if (!isBootstrap) return deps;
  const { policies: _policies, webhooks: _webhooks, ...exempt } = deps;
  return exempt;
}
