/** The process that `fsyncs` traces: DATA-DIR WRITES WRITERS. */
import { openStore, podKeys, podValue, writeAll } from './store-load.js';

const [dataDir = '', writes, writers] = process.argv.slice(2);
const store = await openStore(dataDir);
await writeAll(podKeys(Number(writes)), Number(writers), (key) => store.create(key, podValue(0)));
await store.close();
