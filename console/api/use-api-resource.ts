/** Loads a computed resource again whenever its input changes. */
import { useCallback, useEffect, useRef, useState } from 'react';
import { ApiCallError, callApi, isTransient } from './api-call.js';

/** Minimum time between two requests. */
const PAUSE_MS = 1_000;
/** Pause after a request that the coordinator could not answer, for example during a failover. */
const RETRY_MS = 5_000;

/** The last answer of a resource, or why there is none. */
export interface ApiResource<T> {
  answer?: T;
  /** The error message, if there is no answer. */
  problem?: string;
  /** HTTP status of the error. 0 without an answer of the coordinator. */
  code?: number;
}

interface Loaded<T> extends ApiResource<T> {
  path: string;
  version: string;
  /** True if the coordinator could not answer. The same version is requested again. */
  mustRetry?: boolean;
}

interface ApiResourceOptions {
  /** Media type of the response. Plain JSON if absent. */
  accept?: string;
  /** Minimum time between two requests of the same path. */
  pauseMs?: number;
}

/**
 * Requests `path` for each new `version`, one request at a time. Intermediate versions may be skipped, but the last one
 * is always loaded. The previous answer is returned until the next one arrives. Requests nothing while `version` is
 * empty. A request that the coordinator could not answer is repeated, so that a failover leaves no error behind.
 */
export function useApiResource<T>(
  path: string,
  version: string,
  { accept, pauseMs = PAUSE_MS }: ApiResourceOptions = {},
): ApiResource<T> {
  const [loaded, setLoaded] = useState<Loaded<T>>();
  const { isPaused, pause } = usePause();
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
    const isLoaded = loaded?.path === path && loaded.version === version && !loaded.mustRetry;
    const mustWait = isPaused && loaded?.path === path;
    if (version === '' || isLoaded || mustWait || isAsking.current) return;
    isAsking.current = true;
    const { signal } = abort.current;
    const finish = (answered: ApiResource<T>, mustRetry = false) => {
      if (signal.aborted) return;
      isAsking.current = false;
      setLoaded((before) => ({
        ...(before?.path === path && before.answer !== undefined ? { answer: before.answer } : {}),
        ...{ path, version, mustRetry },
        ...answered,
      }));
      pause(mustRetry ? Math.max(RETRY_MS, pauseMs) : pauseMs);
    };
    callApi<T>(path, { signal, ...(accept ? { accept } : {}) }).then(
      (answer) => finish({ answer }),
      (error: unknown) => finish(problemOf(error), isTransient(error)),
    );
  }, [path, version, accept, pauseMs, pause, loaded, isPaused]);
  return loaded?.path === path ? loaded : {};
}

function problemOf(error: unknown): { problem: string; code: number } {
  return error instanceof ApiCallError
    ? { problem: error.message, code: error.code }
    : { problem: String(error), code: 0 };
}

/** A pause that a later one replaces. */
function usePause() {
  const [isPaused, setPaused] = useState(false);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const pause = useCallback((ms: number) => {
    clearTimeout(timer.current);
    setPaused(true);
    timer.current = setTimeout(() => setPaused(false), ms);
  }, []);
  useEffect(() => () => clearTimeout(timer.current), []);
  return { isPaused, pause };
}
