/** Schema of the resource usage that a host reports on request. */
import type { HostUsage, ResourceUse } from '../messages/link-messages.js';
import { integer, list, record, type Schema, text } from './schema-combinators.js';

/** End of the year 9999. Clients cannot decode later times. */
const LAST_TIME_MS = 253_402_300_799_999;
/** 285 years. A Go duration overflows after 292 years. */
const MAX_WINDOW_MS = 9e12;
/** A million cores. */
const MAX_CPU_MICRO = 1e12;

const use = {
  timeMs: integer(0, LAST_TIME_MS),
  windowMs: integer(1, MAX_WINDOW_MS),
  cpuMicro: integer(0, MAX_CPU_MICRO),
  memoryBytes: integer(0),
};
const name = text(253);

const hostUsage: Schema<HostUsage> = record<HostUsage>({
  node: record<ResourceUse>(use),
  pods: list(
    record<HostUsage['pods'][number]>({
      uid: text(128),
      containers: list(record<HostUsage['pods'][number]['containers'][number]>({ name, ...use })),
    }),
  ),
});

/** Parses the usage. Throws `ProtocolError` or SyntaxError if it is invalid. */
export function parseHostUsage(json: string): HostUsage {
  return hostUsage(JSON.parse(json), 'usage');
}
