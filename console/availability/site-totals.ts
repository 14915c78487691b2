/** What the coordinator's sums of availability say about the sites of the fleet. Pure. */
import type { FleetAvailability } from '../../shared/kube/fleet/availability-types.js';
import { isTransientCode } from '../api/transient-code.js';

/** `refused`: not available to this user, or a coordinator of an earlier version does not have it. */
type Unknown = 'loading' | 'refused';

/** Keys of labels that can name sites, among the whole fleet. */
export type SiteLabels = Unknown | readonly string[];

/** Returns the number of hosts of a site. The site is undefined for hosts without the label. */
export type SiteTotals = Unknown | ((site: string | undefined) => number | undefined);

/** An earlier version of the coordinator sends no labels and no numbers of hosts. */
interface LoadedSums {
  answer?: Partial<Pick<FleetAvailability, 'labels'>> & {
    groups: readonly { value?: string; hosts?: number }[];
  };
  /** HTTP status of the error. */
  code?: number;
}

export function siteLabelsIn({ answer, code }: LoadedSums): SiteLabels {
  return answer ? (answer.labels ?? 'refused') : withoutAnswer(code);
}

export function siteTotalsIn({ answer, code }: LoadedSums): SiteTotals {
  if (!answer) return withoutAnswer(code);
  // Without the totals, a site would be offline as soon as two of its hosts are.
  if (answer.groups.some(({ hosts }) => hosts === undefined)) return 'refused';
  return (site) => answer.groups.find(({ value }) => value === site)?.hosts;
}

/** A request that failed for a while is repeated. Any other error is final. */
function withoutAnswer(code: number | undefined): Unknown {
  return code === undefined || isTransientCode(code) ? 'loading' : 'refused';
}
