/** Services that hosts receive. */
import { Counter, Gauge, type Registry } from 'prom-client';

/** What the hub has sent. */
export interface CountedServices {
  counts(): ServiceCounts;
}

/** The numbers of updates are counted since the start. */
interface ServiceCounts {
  interestedHosts: number;
  services: number;
  sentViews: number;
  sentChanges: number;
}

export function addServiceMetrics(registry: Registry, services: CountedServices): void {
  const registers = [registry];
  new Gauge({
    name: 'everynode_service_interested_hosts',
    help: 'Connected hosts that have asked for at least one Service.',
    registers,
    collect() {
      this.set(services.counts().interestedHosts);
    },
  });
  new Gauge({
    name: 'everynode_services_sent',
    help: 'Services that at least one connected host has.',
    registers,
    collect() {
      this.set(services.counts().services);
    },
  });
  new Counter({
    name: 'everynode_service_updates_total',
    help: 'Services sent to hosts: whole views and absences (whole), or changes of their endpoints (changes).',
    registers,
    labelNames: ['type'],
    collect() {
      this.reset();
      const { sentViews, sentChanges } = services.counts();
      this.inc({ type: 'whole' }, sentViews);
      this.inc({ type: 'changes' }, sentChanges);
    },
  });
}
