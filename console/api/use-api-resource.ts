/** The answer to a question about something that changes: asked anew after a change. */
import { useEffect, useRef, useState } from 'react';
import { ApiCallError, callApi } from './api-call.js';

/** What changes all the time is not asked about all the time. */
const REST_MS = 1_000;

interface Told<T> {
  path: string;
  version: string;
  answer?: T;
  /** Why there is none, in the coordinator's words. */
  problem?: string;
}

/**
 * Asks `path` for each `version`, one question at a time: of what changes faster than it is answered, every answer is shown, and the last
 * one is that of the last version. The answer of before stays until there is another. Asks nothing while `version` is empty.
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
