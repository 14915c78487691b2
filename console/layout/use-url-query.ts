/** State in the URL, so that a shared link shows the same page. */
import { useSearchParams } from 'wouter';

type SetQuery = (name: string, value: string) => void;

/** Returns the query and a setter for one parameter. An empty value removes the parameter. */
export function useUrlQuery(): [query: URLSearchParams, set: SetQuery] {
  return useQuery(() => false);
}

/**
 * Like `useUrlQuery`, for filters of a list. A filter that comes or goes is a step of the browser's history, so that
 * Back restores the list before it. Typing on in a filter is no further step.
 */
export function useUrlFilter(): [query: URLSearchParams, set: SetQuery] {
  return useQuery((before, name, value) => !before.has(name) || value === '');
}

function useQuery(
  isStep: (before: URLSearchParams, name: string, value: string) => boolean,
): [query: URLSearchParams, set: SetQuery] {
  const [query, setQuery] = useSearchParams();
  const set = (name: string, value: string) =>
    setQuery(
      (before) => {
        const next = new URLSearchParams(before);
        if (value === '') next.delete(name);
        else next.set(name, value);
        return next;
      },
      { replace: !isStep(query, name, value) },
    );
  return [query, set];
}
