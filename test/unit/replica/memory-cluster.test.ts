import { acceleratedClock } from '../../harness/basics/test-clocks.js';
import { MemoryCluster } from '../../harness/replica/memory-cluster.js';
import { MemoryEngine } from '../../harness/replica/memory-engine.js';
import { replicatedLogLaws } from '../../laws/replicated-log-laws.js';

replicatedLogLaws('simulated etcd', {
  open: async () => {
    const engine = new MemoryEngine(acceleratedClock(20));
    return () => new MemoryCluster(engine, { clusterUID: 'fleet', generation: 'first' }).storage;
  },
});
