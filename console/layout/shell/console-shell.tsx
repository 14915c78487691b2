/** Layout of all pages: navigation, and banners for the coordinator and for several of them. */
import { Search } from 'lucide-react';
import type { ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import type { Coordinator } from '../../../shared/kube/fleet/coordinator-types.js';
import { useIsCoordinatorLost } from '../../api/coordinator-contact.js';
import { hasCluster, problemsOf, useKnownCoordinators } from '../../api/known-coordinators.js';
import { t, translated } from '../../texts/translate.js';
import controls from '../controls.module.css';
import { BottomBar } from './bottom-bar.js';
import classes from './console-shell.module.css';
import { NamespaceSelect } from './namespace-select.js';
import { ADD_HOST, isAtItem, NAV_ITEMS, type NavItem, type NavSection } from './navigation.js';
import { UserMenu } from './user-menu.js';

/** Window event that opens the command palette. */
export const OPEN_PALETTE = 'everynode-palette';

const SECTIONS: readonly NavSection[] = ['Fleet', 'Workloads', 'Operations'];

/**
 * Shows a banner while the coordinator is unreachable, or while one of several has an error. One shell is around all
 * pages. With a shell in each page, the next page would close open settings and take the focus from the navigation.
 */
export function ConsoleShell({ children }: { children: ReactNode }) {
  const isLost = useIsCoordinatorLost();
  const coordinators = useKnownCoordinators();
  const items = NAV_ITEMS.filter(({ needsCluster }) => !needsCluster || hasCluster(coordinators));
  return (
    <>
      <a className={classes.skip} href="#main">
        {t('Skip to content')}
      </a>
      {isLost && (
        <div className={classes.banner} role="alert">
          {t(
            'The coordinator is unreachable. Hosts keep running. The data on this page may be outdated. Reconnecting…',
          )}
        </div>
      )}
      {!isLost && <ClusterBanner coordinators={coordinators} />}
      <div className={classes.shell}>
        <SideBar items={items} />
        <main className={classes.main} id="main" tabIndex={-1}>
          <SectionTabs items={items} />
          {children}
        </main>
        <BottomBar items={items} onSearch={openPalette} />
      </div>
    </>
  );
}

function SideBar({ items }: { items: readonly NavItem[] }) {
  return (
    <nav className={classes.nav} aria-label={t('Main')}>
      <Link href="/" className={classes.brand}>
        <img src="/console/icon.svg" alt="" width="22" height="22" />
        Everynode
      </Link>
      <button
        type="button"
        className={classes.palette}
        aria-keyshortcuts="Control+K Meta+K"
        onClick={openPalette}
      >
        <Search aria-hidden="true" /> {t('Go to…')} <kbd>Ctrl K</kbd>
      </button>
      <NamespaceSelect />
      {SECTIONS.map((section) => (
        <div key={section} className={classes.section}>
          {section !== 'Fleet' && <p className={classes.heading}>{translated(section)}</p>}
          <ul className={classes.links}>
            {items
              .filter((item) => item.section === section)
              .map((item) => (
                <li key={item.path}>
                  <ItemLink item={item} />
                </li>
              ))}
          </ul>
        </div>
      ))}
      <Link href={ADD_HOST.path} className={`${controls.button} ${classes.add}`}>
        <ADD_HOST.icon aria-hidden="true" /> {translated(ADD_HOST.name)}
      </Link>
      <UserMenu />
    </nav>
  );
}

function ItemLink({ item }: { item: NavItem }) {
  const [at] = useLocation();
  return (
    <Link href={item.path} aria-current={isAtItem(item, at) ? 'page' : undefined}>
      <item.icon aria-hidden="true" /> {translated(item.name)}
    </Link>
  );
}

/** On phones, the bottom bar has one entry for all workloads. Their pages link to each other here. */
function SectionTabs({ items }: { items: readonly NavItem[] }) {
  const [at] = useLocation();
  const here = items.find(({ path }) => path === at);
  if (here?.section !== 'Workloads') return null;
  return (
    <nav className={classes.tabs} aria-label={t('Workloads')}>
      {items
        .filter(({ section }) => section === here.section)
        .map((item) => (
          <ItemLink key={item.path} item={item} />
        ))}
    </nav>
  );
}

function openPalette(): void {
  dispatchEvent(new CustomEvent(OPEN_PALETTE));
}

/** Names the first error of the coordinators and of etcd. The page of coordinators has all of them. */
function ClusterBanner({ coordinators }: { coordinators: readonly Coordinator[] }) {
  const [worst] = problemsOf(coordinators);
  if (worst?.severity !== 'error') return null;
  return (
    <div className={classes.banner} role="alert">
      {worst.message} <Link href="/coordinators">{t('Show the coordinators')}</Link>
    </div>
  );
}
