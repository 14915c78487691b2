/** Layout of all pages: navigation, and a banner while the coordinator is unreachable. */
import { type ReactNode, useEffect, useRef } from 'react';
import { Link, useRoute } from 'wouter';
import { useIsCoordinatorLost } from '../../api/coordinator-contact.js';
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

/** Shows a banner while the coordinator is unreachable. */
export function PageShell({ children }: { children: ReactNode }) {
  const isLost = useIsCoordinatorLost();
  return (
    <>
      <a className={classes.skip} href="#main">
        Skip to content
      </a>
      {isLost && (
        <div className={classes.banner} role="alert">
          The coordinator is unreachable. Hosts keep running. The data on this page may be outdated.
          Reconnecting…
        </div>
      )}
      <div className={classes.shell}>
        <nav className={classes.nav} aria-label="Main">
          <Link href="/" className={classes.brand}>
            Everynode
          </Link>
          <ul className={classes.links}>
            {NAV_ITEMS.map((place) => (
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
