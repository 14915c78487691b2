/** Loads how long the hosts of the fleet and of its sites were Ready. */
import { useCallback, useState } from 'react';
import type { AvailabilitySums, FleetAvailability } from '../../shared/kube/fleet/availability-types.js';
import { useInterval } from '../api/live-list.js';
import { useApiResource } from '../api/use-api-resource.js';

const RENEW_MS = 60_000;

interface ShownAvailability {
  fleet: AvailabilitySums;
  /** The site is undefined for hosts without the label. */
  ofSite(site: string | undefined): AvailabilitySums | undefined;
}

/** Returns undefined until it is loaded, and for users who may not read it. */
export function useFleetAvailability(siteLabel: string | undefined): ShownAvailability | undefined {
  const [minutes, setMinutes] = useState(0);
  useInterval(
    RENEW_MS,
    useCallback(() => setMinutes((count) => (document.hidden ? count : count + 1)), []),
  );
  const query = siteLabel === undefined ? '' : `?by=${encodeURIComponent(siteLabel)}`;
  const { answer } = useApiResource<FleetAvailability>(
    `/apis/fleet.everynode.dev/v1/hostavailability${query}`,
    String(minutes),
  );
  if (!answer) return undefined;
  const { day, week, groups } = answer;
  return { fleet: { day, week }, ofSite: (site) => groups.find(({ value }) => value === site) };
}
