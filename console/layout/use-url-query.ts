/** State in the URL, so that a shared link shows the same page. */
import { useSearchParams } from 'wouter';

/** Returns the query and a setter for one parameter. An empty value removes the parameter. */
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
      { replace: true },
    );
  return [query, set];
}
