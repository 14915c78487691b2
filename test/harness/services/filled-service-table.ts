/** A service table with 100 Services of 64 endpoints, which arrive as encoded messages. */
import { decodeFromHub, encodeMessage } from '../../../shared/link/encoding/frame-codec.js';
import { TableFixture } from './service-table-fixture.js';
import { remoteEndpoint, serviceView } from './service-views.js';

export const SERVICES = 100;
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

export async function filledTable(): Promise<TableFixture> {
  const fixture = new TableFixture();
  const table = await fixture.open();
  fixture.connect();
  for (let service = 0; service < SERVICES; service++) {
    const decoded = decodeFromHub(message(service));
    if (decoded.kind === 'serviceViews') table.onViews(decoded);
  }
  return fixture;
}
