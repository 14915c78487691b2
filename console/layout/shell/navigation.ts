/** Items of the navigation, in display order. */

export interface NavItem {
  path: string;
  name: string;
  key: string;
}

export const NAV_ITEMS: readonly NavItem[] = [
  { path: '/', name: 'Fleet', key: 'f' },
  { path: '/rollouts', name: 'Rollouts', key: 'r' },
  { path: '/daemonsets', name: 'DaemonSets', key: 'd' },
  { path: '/services', name: 'Services', key: 's' },
  { path: '/calendar', name: 'Calendar', key: 'c' },
  { path: '/onboarding', name: 'Onboarding', key: 'o' },
  { path: '/audit', name: 'Audit', key: 'a' },
];
