/** Loads a computed resource again whenever its input changes. */
import { useEffect, useRef, useState } from 'react';
import { ApiCallError, callApi } from './api-call.js';

/** Minimum time between two requests. */
const PAUSE_MS = 1_000;

interface Loaded<T> {
  path: string;
  version: string;
  answer?: T;
  /** The error message, if there is no answer. */
  problem?: string;
}

/**
 * Requests `path` for each new `version`, one request at a time. Intermediate versions may be skipped, but the last one
 * is always loaded. The previous answer is returned until the next one arrives. Requests nothing while `version` is
 * empty. `accept` is the media type; without it, plain JSON.
 */
export function useApiResource<T>(
  path: string,
  version: string,
  accept?: string,
): Pick<Loaded<T>, 'answer' | 'problem'> {
  const [loaded, setLoaded] = useState<Loaded<T>>();
  const [isPaused, setPaused] = useState(false);
  const isAsking = useRef(false);
  const abort = useRef(new AbortController());
  useEffect(() => {
    abort.current = new AbortController();
    return () => {
      abort.current.abort();
      isAsking.current = false;
    };
  }, []);
  useEffect(() => {
    const isLoaded = loaded?.path === path && loaded.version === version;
    const mustWait = isPaused && loaded?.path === path;
    if (version === '' || isLoaded || mustWait || isAsking.current) return;
    isAsking.current = true;
    const { signal } = abort.current;
    const finish = (answered: Pick<Loaded<T>, 'answer' | 'problem'>) => {
      if (signal.aborted) return;
      isAsking.current = false;
      setLoaded((before) => ({
        ...(before?.path === path && before.answer !== undefined ? { answer: before.answer } : {}),
        ...{ path, version },
        ...answered,
      }));
      setPaused(true);
      setTimeout(() => setPaused(false), PAUSE_MS);
    };
    callApi<T>(path, { signal, ...(accept ? { accept } : {}) }).then(
      (answer) => finish({ answer }),
      (error: unknown) => finish({ problem: error instanceof ApiCallError ? error.message : String(error) }),
    );
  }, [path, version, accept, loaded, isPaused]);
  return loaded?.path === path ? loaded : {};
}
