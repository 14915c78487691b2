/** Counts the hosts of a job that is not created yet. */
import { useEffect, useState } from 'react';
import type { DaemonJobPreview } from '../../shared/kube/fleet/daemonjob-host-types.js';
import { callApi } from '../api/api-call.js';
import { jobsPath } from './job-text.js';

/** Delay after the last keystroke. */
const PREVIEW_AFTER_MS = 400;

interface Loaded {
  /** The body that the preview belongs to. A preview of an earlier text must not be confirmed. */
  body: string;
  preview?: DaemonJobPreview;
  problem?: string;
}

/** Returns the preview of exactly this job, or the problem that its creation would have. */
export function useJobPreview(
  drafted: { job: object } | { problem: string },
  namespace: string,
): Pick<Loaded, 'preview' | 'problem'> {
  const [loaded, setLoaded] = useState<Loaded>();
  const body = 'job' in drafted ? JSON.stringify(drafted.job) : '';
  useEffect(() => {
    if (body === '') return;
    const abort = new AbortController();
    const timer = setTimeout(() => {
      const call = {
        method: 'POST',
        body: JSON.parse(body),
        isQuestion: true,
        signal: abort.signal,
      } as const;
      callApi<DaemonJobPreview>(jobsPath('daemonjobpreviews', namespace), call).then(
        (preview) => setLoaded({ body, preview }),
        (error: unknown) => {
          if (abort.signal.aborted) return;
          setLoaded({ body, problem: error instanceof Error ? error.message : String(error) });
        },
      );
    }, PREVIEW_AFTER_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [body, namespace]);
  return loaded?.body === body ? loaded : {};
}
