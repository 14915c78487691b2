/** Records completed requests in the request log and in the audit log. */

import type { Logger } from '../../../shared/process/output/logger.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import { auditEvent } from '../audit/audit-event.js';
import type { AuditSink } from '../audit/audit-file.js';
import { type LoggedRequest, type RequestLogLevel, requestLogger } from './request-log.js';

interface RequestRecords {
  level: RequestLogLevel;
  log: Logger;
  /** Absent if the audit log is off. */
  audit?: AuditSink | undefined;
  clock: Clock;
}

/** Returns a function that records one completed request. */
export function requestRecorder({
  level,
  log,
  audit,
  clock,
}: RequestRecords): (request: LoggedRequest) => void {
  const write = requestLogger(level, log);
  return (request) => {
    write(request);
    if (!audit) return;
    const answeredAt = clock.now();
    const times = { answeredAt, receivedAt: answeredAt - request.durationMs };
    const event = auditEvent({ ...request, ...times, auditID: audit.newId() });
    if (event) audit.record(event);
  };
}
