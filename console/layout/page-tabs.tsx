/**
 * Tabs of a page. Each tab is a link with its own address, so that it can be opened in another window, shared and
 * reached by Back.
 */
import { Link, useSearch } from 'wouter';
import { translated } from '../texts/translate.js';
import classes from './page-tabs.module.css';

interface PageTab<T extends string> {
  id: T;
  name: string;
}

/** Returns the tab in the URL. The first tab is the default and has the plain address. */
export function usePageTab<T extends string>(tabs: readonly PageTab<T>[]): T {
  const asked = new URLSearchParams(useSearch()).get('tab');
  const found = tabs.find(({ id }) => id === asked) ?? tabs[0];
  if (!found) throw new Error('a page needs at least one tab');
  return found.id;
}

interface PageTabsProps<T extends string> {
  /** For screen readers: what the tabs are parts of. */
  label: string;
  /** Path of the page. */
  path: string;
  tabs: readonly PageTab<T>[];
  current: T;
}

export function PageTabs<T extends string>({ label, path, tabs, current }: PageTabsProps<T>) {
  // The choice of the time zone is one for the whole page.
  const times = new URLSearchParams(useSearch()).get('times');
  return (
    <nav className={classes.tabs} aria-label={label}>
      {tabs.map(({ id, name }, index) => {
        const query = new URLSearchParams({
          ...(index === 0 ? {} : { tab: id }),
          ...(times ? { times } : {}),
        }).toString();
        return (
          <Link
            key={id}
            href={query ? `${path}?${query}` : path}
            aria-current={id === current ? 'page' : undefined}
          >
            {translated(name)}
          </Link>
        );
      })}
    </nav>
  );
}
