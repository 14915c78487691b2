/** Writes a service table again and again until it is killed. Reports after the first write. Argument: PATH. */
import { durableFile } from '../../../agent/desired/durable-file.js';
import { EMPTY_TABLE, ServiceTableFile } from '../../../agent/services/service-table-file.js';
import { silentLogger } from '../../../shared/process/output/logger.js';
import { systemClock } from '../../../shared/process/time/clock.js';
import { remoteEndpoint, serviceView } from './service-views.js';

const [, , path = ''] = process.argv;
const file = new ServiceTableFile({ file: durableFile(path), clock: systemClock, log: silentLogger });
const endpoints = Array.from({ length: 64 }, (_, id) => remoteEndpoint(id));
const views = Array.from({ length: 50 }, (_, index) => serviceView(`web-${index}`, { remote: endpoints }));
file.writeFrom(() => ({ ...EMPTY_TABLE, views }));
for (let write = 0; ; write++) {
  file.markChanged('services');
  await file.flush();
  if (write === 0) process.send?.('written');
}
