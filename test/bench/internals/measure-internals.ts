/** Single components of the coordinator and the agent in isolation. */
import type { BenchContext } from '../bench-section.js';
import { measureServiceMemory } from '../services/measure-service-memory.js';
import { measureServiceProxy } from '../services/measure-service-proxy.js';
import { measureDns } from './measure-dns.js';
import { measurePlacement } from './measure-placement.js';
import { measureRolloutSteps } from './measure-rollout-steps.js';
import { measureServices } from './measure-services.js';
import { measureStore } from './measure-store.js';

export async function measureInternals(bench: BenchContext): Promise<void> {
  bench.progress('placement');
  await measurePlacement(bench);
  bench.progress('steps of a rollout');
  await measureRolloutSteps(bench);
  bench.progress('changes of endpoints');
  await measureServices(bench);
  await measureStore(bench);
  await measureDns(bench);
  await measureServiceProxy(bench);
  await measureServiceMemory(bench);
}
