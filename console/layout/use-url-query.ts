/** State in the URL, so that a shared link shows the same page. */
import { useSearchParams } from 'wouter';

/**
 * Returns the query and a setter for one parameter. An empty value removes the parameter. A parameter that comes or
 * goes is a step of the browser's history, so that Back restores the view before it. Typing on is no further step.
 */
export function useUrlQuery(): [query: URLSearchParams, set: (name: string, value: string) => void] {
  const [query, setQuery] = useSearchParams();
  const set = (name: string, value: string) =>
    setQuery(
      (before) => {
        const next = new URLSearchParams(before);
        if (value === '') next.delete(name);
        else next.set(name, value);
        return next;
      },
      { replace: query.has(name) && value !== '' },
    );
  return [query, set];
}
