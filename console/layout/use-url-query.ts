/** What is chosen on a page, as it stands in its URL: a link that is sent on shows the same. */
import { useSearchParams } from 'wouter';

/** The query, and how to set one of its names; an empty value takes the name out. */
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
