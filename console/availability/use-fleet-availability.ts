/** Loads how long the hosts of the fleet and of its sites were Ready. */
import { useCallback, useMemo, useState } from 'react';
import type { AvailabilitySums, FleetAvailability } from '../../shared/kube/fleet/availability-types.js';
import { useInterval } from '../api/live-list.js';
import { useApiResource } from '../api/use-api-resource.js';
import { type SiteLabels, type SiteTotals, siteLabelsIn, siteTotalsIn } from './site-totals.js';

const RENEW_MS = 60_000;

interface ShownAvailability {
  fleet: AvailabilitySums;
  /** The site is undefined for hosts without the label. */
  ofSite(site: string | undefined): AvailabilitySums | undefined;
}

/** Returns undefined until it is loaded, and for users who may not read it. */
export function useFleetAvailability(siteLabel: string | undefined): ShownAvailability | undefined {
  const { answer } = useAnswer(siteLabel, true);
  if (!answer) return undefined;
  const { day, week, groups } = answer;
  return { fleet: { day, week }, ofSite: (site) => groups.find(({ value }) => value === site) };
}

/** Returns the labels that can name sites. Loads nothing while `isWanted` is false. */
export function useSiteLabels(isWanted: boolean): SiteLabels {
  const resource = useAnswer(undefined, isWanted);
  return useMemo(() => siteLabelsIn(resource), [resource]);
}

/** Returns the number of hosts of each site. Loads nothing while `isWanted` is false. */
export function useSiteTotals(siteLabel: string | undefined, isWanted: boolean): SiteTotals {
  const resource = useAnswer(siteLabel, isWanted);
  return useMemo(() => siteTotalsIn(resource), [resource]);
}

function useAnswer(siteLabel: string | undefined, isWanted: boolean) {
  const [minutes, setMinutes] = useState(0);
  useInterval(
    RENEW_MS,
    useCallback(() => setMinutes((count) => (document.hidden ? count : count + 1)), []),
  );
  const query = siteLabel === undefined ? '' : `?by=${encodeURIComponent(siteLabel)}`;
  return useApiResource<FleetAvailability>(
    `/apis/fleet.everynode.dev/v1/hostavailability${query}`,
    isWanted ? String(minutes) : '',
  );
}
