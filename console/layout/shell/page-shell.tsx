/** Layout of all pages: navigation, and banners for the coordinator and for several of them. */
import { type ReactNode, useEffect, useRef } from 'react';
import { Link, useRoute } from 'wouter';
import type { Coordinator } from '../../../shared/kube/fleet/coordinator-types.js';
import { useIsCoordinatorLost } from '../../api/coordinator-contact.js';
import { hasCluster, problemsOf, useKnownCoordinators } from '../../api/known-coordinators.js';
import { NAV_ITEMS, type NavItem as PlaceOf } from './navigation.js';
import classes from './page-shell.module.css';
import { UserMenu } from './user-menu.js';

/** Window event that opens the command palette. */
export const OPEN_PALETTE = 'everynode-palette';

function Place({ place: { path, name } }: { place: PlaceOf }) {
  const [isHere] = useRoute(path);
  const item = useRef<HTMLLIElement>(null);
  // On phones the navigation scrolls horizontally.
  useEffect(() => {
    if (isHere) item.current?.scrollIntoView({ block: 'nearest', inline: 'center' });
  }, [isHere]);
  return (
    <li ref={item}>
      <Link href={path} aria-current={isHere ? 'page' : undefined}>
        {name}
      </Link>
    </li>
  );
}

interface PageShellProps {
  /** Title of the browser's tab, before the product's name. */
  title: string;
  children: ReactNode;
}

/** Shows a banner while the coordinator is unreachable, or while one of several has an error. */
export function PageShell({ title, children }: PageShellProps) {
  const isLost = useIsCoordinatorLost();
  const coordinators = useKnownCoordinators();
  const places = NAV_ITEMS.filter(({ needsCluster }) => !needsCluster || hasCluster(coordinators));
  return (
    <>
      <title>{`${title} – Everynode`}</title>
      <a className={classes.skip} href="#main">
        Skip to content
      </a>
      {isLost && (
        <div className={classes.banner} role="alert">
          The coordinator is unreachable. Hosts keep running. The data on this page may be outdated.
          Reconnecting…
        </div>
      )}
      {!isLost && <ClusterBanner coordinators={coordinators} />}
      <div className={classes.shell}>
        <nav className={classes.nav} aria-label="Main">
          <Link href="/" className={classes.brand}>
            Everynode
          </Link>
          <ul className={classes.links}>
            {places.map((place) => (
              <Place key={place.path} place={place} />
            ))}
          </ul>
          <button
            type="button"
            className={classes.palette}
            aria-keyshortcuts="Control+K Meta+K"
            onClick={() => dispatchEvent(new CustomEvent(OPEN_PALETTE))}
          >
            Go to… <kbd>Ctrl K</kbd>
          </button>
          <UserMenu />
        </nav>
        <main className={classes.main} id="main" tabIndex={-1}>
          {children}
        </main>
      </div>
    </>
  );
}

/** Names the first error of the coordinators and of etcd. The page of coordinators has all of them. */
function ClusterBanner({ coordinators }: { coordinators: readonly Coordinator[] }) {
  const [worst] = problemsOf(coordinators);
  if (worst?.severity !== 'error') return null;
  return (
    <div className={classes.banner} role="alert">
      {worst.message} <Link href="/coordinators">Show the coordinators</Link>
    </div>
  );
}
