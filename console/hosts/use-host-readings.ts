/** How a host has done of late, asked anew while the page is looked at. */
import { useCallback, useEffect, useState } from 'react';
import type { HostMeters } from '../../shared/kube/fleet/host-meter-types.js';
import type { HostReadings } from '../../shared/kube/fleet/host-reading-types.js';
import { ApiCallError, callApi } from '../api/api-call.js';
import { useInterval } from '../api/live-list.js';

/** A reading comes about every minute. */
const ASK_AGAIN_MS = 15_000;

interface Readings {
  readings?: HostReadings;
  /** Absent for a host that has not connected since the coordinator's start. */
  meters?: HostMeters;
  /** Why nothing is shown, in the coordinator's words. */
  problem?: string;
}

/** Of the host `name`: what was shown stays while the coordinator is away; a refusal is told as the `problem`. */
export function useHostReadings(name: string): Readings {
  const [shown, setShown] = useState<Readings>({});
  const ask = useCallback(
    async (signal?: AbortSignal) => {
      if (document.hidden) return;
      const path = `/apis/fleet.everynode.dev/v1/hosts/${name}`;
      const options = signal ? { signal } : {};
      try {
        const readings = await callApi<HostReadings>(`${path}/readings`, options);
        const meters = await callApi<HostMeters>(`${path}/meters`, options).catch(() => undefined);
        setShown({ readings, ...(meters ? { meters } : {}) });
      } catch (error) {
        // The page's own watch tells of a coordinator that is away; what was shown stays.
        const isRefusal = error instanceof ApiCallError && error.code !== 0;
        if (isRefusal) setShown({ problem: error.message });
      }
    },
    [name],
  );
  useEffect(() => {
    const leave = new AbortController();
    void ask(leave.signal);
    return () => leave.abort();
  }, [ask]);
  useInterval(
    ASK_AGAIN_MS,
    useCallback(() => void ask(), [ask]),
  );
  return shown;
}
