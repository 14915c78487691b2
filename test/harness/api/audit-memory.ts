/** An audit log in memory. */
import type { AuditLog } from '../../../coordinator/api/audit/audit-file.js';
import type { AuditEvent } from '../../../shared/kube/access/audit-types.js';

export class MemoryAuditLog implements AuditLog {
  readonly path = '/none';
  readonly events: AuditEvent[] = [];

  newId(): string {
    return 'id';
  }

  record(event: AuditEvent): void {
    this.events.push(event);
  }

  flush(): Promise<void> {
    return Promise.resolve();
  }

  /** Returns `result reason user address` of the requests with this verb. */
  entriesFor(verb: string): string[] {
    return this.events
      .filter((event) => event.verb === verb)
      .map(({ user, sourceIPs, responseStatus: { code, reason } }) =>
        [code, reason, user.username, ...sourceIPs].join(' '),
      );
  }
}
