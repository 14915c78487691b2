/** Measures the memory of a service table with 100 Services of 64 endpoints, which arrive as encoded messages. */
import { decodeFromHub, encodeMessage } from '../../../shared/link/encoding/frame-codec.js';
import { TableFixture } from './service-table-fixture.js';
import { remoteEndpoint, serviceView } from './service-views.js';

const SERVICES = 100;
const ENDPOINTS = 64;

/** The nodes of each Service differ from those of the others, as with a bounded choice among many nodes. */
function message(service: number): Buffer {
  const remote = Array.from({ length: ENDPOINTS }, (_, index) => {
    const id = (service * 37 + index * 101) % 10_000;
    const node = `shop-${id}.branches.example.com`;
    return remoteEndpoint(id * 3, { node, hostname: node, zone: `zone-${id % 50}` });
  });
  const view = serviceView(`service-${service}`, {
    addressing: { type: 'clusterIP', address: `10.96.0.${service}` },
    remote,
  });
  return Buffer.from(encodeMessage({ kind: 'serviceViews', set: [view], absent: [] }));
}

function usedBytes(): number {
  for (let run = 0; run < 4; run++) globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}

async function filledTable(): Promise<TableFixture> {
  const fixture = new TableFixture();
  const table = await fixture.open();
  fixture.connect();
  for (let service = 0; service < SERVICES; service++) {
    const decoded = decodeFromHub(message(service));
    if (decoded.kind === 'serviceViews') table.onViews(decoded);
  }
  return fixture;
}

// The first table loads and compiles the code.
const tables = [await filledTable()];
const before = usedBytes();
tables.push(await filledTable());
const bytes = usedBytes() - before;
const isFilled = tables.every(({ table }) => table.knownServices === SERVICES);
process.send?.(isFilled ? bytes : 0);
process.exit(0);
