/** What a host answers when it is asked what it uses. */
import type { HostUsage, ResourceUse } from './messages.js';
import { integer, list, record, type Shape, text } from './shape.js';

const use = { timeMs: integer(0), windowMs: integer(1), cpuMicro: integer(0), memoryBytes: integer(0) };
const name = text(253);

const hostUsage: Shape<HostUsage> = record<HostUsage>({
  node: record<ResourceUse>(use),
  pods: list(
    record<HostUsage['pods'][number]>({
      uid: text(128),
      containers: list(record<HostUsage['pods'][number]['containers'][number]>({ name, ...use })),
    }),
  ),
});

/** Its JSON as it came. Throws `ProtocolError` or SyntaxError for anything else. */
export function readHostUsage(json: string): HostUsage {
  return hostUsage(JSON.parse(json), 'usage');
}
