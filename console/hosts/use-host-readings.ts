/** Polls recent readings of a host. */
import { useCallback, useEffect, useState } from 'react';
import type { HostMeters } from '../../shared/kube/fleet/host-meter-types.js';
import type { HostReadings } from '../../shared/kube/fleet/host-reading-types.js';
import { ApiCallError, callApi } from '../api/api-call.js';
import { useInterval } from '../api/live-list.js';

/** New readings arrive about once a minute. */
const ASK_AGAIN_MS = 15_000;

interface Readings {
  readings?: HostReadings;
  /** Absent if the host has not connected since the coordinator's start. */
  meters?: HostMeters;
  /** The error message, if nothing can be shown. */
  problem?: string;
}

/** Polls the readings of a host. The last ones remain while the coordinator is unreachable. */
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
        // The banner of the page reports an unreachable coordinator.
        const isRefusal = error instanceof ApiCallError && error.code !== 0;
        if (isRefusal) setShown({ problem: error.message });
      }
    },
    [name],
  );
  useEffect(() => {
    const abort = new AbortController();
    void ask(abort.signal);
    return () => abort.abort();
  }, [ask]);
  useInterval(
    ASK_AGAIN_MS,
    useCallback(() => void ask(), [ask]),
  );
  return shown;
}
