import { MemoryStore } from '../../harness/controllers/memory-store.js';
import { storeLaws } from '../../laws/store-laws.js';

storeLaws('memory store', async (limits) => new MemoryStore(limits));
