/** Loads a computed resource again whenever its input changes. */
import { useEffect, useRef, useState } from 'react';
import { ApiCallError, callApi } from './api-call.js';

/** Minimum time between two requests. */
const REST_MS = 1_000;

interface Told<T> {
  path: string;
  version: string;
  answer?: T;
  /** The error message, if there is no answer. */
  problem?: string;
}

/**
 * Requests `path` for each new `version`, one request at a time. Intermediate versions may be skipped, but the last one
 * is always loaded. The previous answer is returned until the next one arrives. Requests nothing while `version` is
 * empty.
 */
export function useApiResource<T>(path: string, version: string): Pick<Told<T>, 'answer' | 'problem'> {
  const [told, setTold] = useState<Told<T>>();
  const [isResting, setResting] = useState(false);
  const isAsking = useRef(false);
  const leave = useRef(new AbortController());
  useEffect(() => {
    leave.current = new AbortController();
    return () => {
      leave.current.abort();
      isAsking.current = false;
    };
  }, []);
  useEffect(() => {
    const isTold = told?.path === path && told.version === version;
    const waits = isResting && told?.path === path;
    if (version === '' || isTold || waits || isAsking.current) return;
    isAsking.current = true;
    const { signal } = leave.current;
    const tell = (answered: Pick<Told<T>, 'answer' | 'problem'>) => {
      if (signal.aborted) return;
      isAsking.current = false;
      setTold((before) => ({
        ...(before?.path === path && before.answer !== undefined ? { answer: before.answer } : {}),
        ...{ path, version },
        ...answered,
      }));
      setResting(true);
      setTimeout(() => setResting(false), REST_MS);
    };
    callApi<T>(path, { signal }).then(
      (answer) => tell({ answer }),
      (error: unknown) => tell({ problem: error instanceof ApiCallError ? error.message : String(error) }),
    );
  }, [path, version, told, isResting]);
  return told?.path === path ? told : {};
}
