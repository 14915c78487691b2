/** Entry point of the web console: sign-in, then the pages. */
import { type ReactNode, StrictMode, Suspense } from 'react';
import { createRoot } from 'react-dom/client';
import { Route, Router, Switch, useLocation } from 'wouter';
import { watchHistory } from './layout/kept-view.js';
import { lazyPage } from './layout/lazy-page.js';
import { loadMissingStyles } from './layout/missing-styles.js';
import { ConsoleShell } from './layout/shell/console-shell.js';
import { ErrorBoundary } from './layout/shell/error-boundary.js';
import { NotFoundPage } from './layout/shell/not-found-page.js';
import { Page } from './layout/shell/page.js';
import { askBeforeLeaving, protectUnsavedEdits } from './layout/unsaved-edits.js';
import { ExplanationPopup } from './layout/widgets/explained.js';
import { FleetAttention } from './overview/fleet-attention.js';
import { OverviewPage } from './overview/overview-page.js';
import { KeyboardShortcuts } from './palette/keyboard-shortcuts.js';
import { SignInGate } from './sign-in/sign-in-gate.js';
import { loadStoredLanguage, useLanguage } from './texts/language-choice.js';
import { t } from './texts/translate.js';
import './theme.css';

/** Loaded on demand. The overview is the first that is shown. */
const AuditPage = lazyPage(async () => (await import('./audit/audit-page.js')).AuditPage);
const CalendarPage = lazyPage(async () => (await import('./calendar/calendar-page.js')).CalendarPage);
const CoordinatorsPage = lazyPage(
  async () => (await import('./coordinators/coordinators-page.js')).CoordinatorsPage,
);
const DaemonSetPage = lazyPage(async () => (await import('./daemonsets/daemonset-page.js')).DaemonSetPage);
const DaemonSetsPage = lazyPage(async () => (await import('./daemonsets/daemonsets-page.js')).DaemonSetsPage);
const HostPage = lazyPage(async () => (await import('./hosts/host-page.js')).HostPage);
const CronJobPage = lazyPage(async () => (await import('./jobs/cron-job-page.js')).CronJobPage);
const JobPage = lazyPage(async () => (await import('./jobs/job-page.js')).JobPage);
const JobsPage = lazyPage(async () => (await import('./jobs/jobs-page.js')).JobsPage);
const RunPage = lazyPage(async () => (await import('./jobs/run-page.js')).RunPage);
const NewValuesPage = lazyPage(async () => (await import('./values/values-object-page.js')).NewValuesPage);
const ValuesPage = lazyPage(async () => (await import('./values/values-page.js')).ValuesPage);
const ValuesObjectPage = lazyPage(
  async () => (await import('./values/values-object-page.js')).ValuesObjectPage,
);
const HostsPage = lazyPage(async () => (await import('./fleet/hosts-page.js')).HostsPage);
const KindsPage = lazyPage(async () => (await import('./resources/kinds-page.js')).KindsPage);
const NewDaemonSetPage = lazyPage(
  async () => (await import('./daemonsets/new-daemonset-page.js')).NewDaemonSetPage,
);
const ObjectPage = lazyPage(async () => (await import('./resources/object-page.js')).ObjectPage);
const ObjectsPage = lazyPage(async () => (await import('./resources/objects-page.js')).ObjectsPage);
const OnboardingPage = lazyPage(async () => (await import('./onboarding/onboarding-page.js')).OnboardingPage);
const LogsPage = lazyPage(async () => (await import('./pods/logs-page.js')).LogsPage);
const PodPage = lazyPage(async () => (await import('./pods/pod-page.js')).PodPage);
const RolloutPage = lazyPage(async () => (await import('./rollouts/rollout-page.js')).RolloutPage);
const RolloutsPage = lazyPage(async () => (await import('./rollouts/rollouts-page.js')).RolloutsPage);
const ServicePage = lazyPage(async () => (await import('./services/service-page.js')).ServicePage);
const ServicesPage = lazyPage(async () => (await import('./services/services-page.js')).ServicesPage);

/** Shows that a page is loading, or that it has failed. */
function PageFrame({ children }: { children: ReactNode }) {
  const [path] = useLocation();
  const loading = (
    <Page title="Loading">
      <p role="status">{t('Loading…')}</p>
    </Page>
  );
  return (
    <ErrorBoundary key={path}>
      <Suspense fallback={loading}>{children}</Suspense>
    </ErrorBoundary>
  );
}

/** Renders all pages again when the user chooses another language. Edits stay, because no component is replaced. */
function Console() {
  useLanguage();
  return (
    <Router base="/console" aroundNav={askBeforeLeaving}>
      <SignInGate>
        <ConsoleShell>
          <PageFrame>
            <Switch>
              <Route path="/" component={OverviewPage} />
              <Route path="/hosts" component={HostsPage} />
              <Route path="/hosts/:name" component={HostPage} />
              <Route path="/rollouts" component={RolloutsPage} />
              <Route path="/rollouts/:namespace/:name" component={RolloutPage} />
              <Route path="/daemonsets" component={DaemonSetsPage} />
              <Route path="/daemonsets/new" component={NewDaemonSetPage} />
              <Route path="/daemonsets/:namespace/:name" component={DaemonSetPage} />
              <Route path="/pods/:namespace/:name" component={PodPage} />
              <Route path="/logs" component={LogsPage} />
              <Route path="/jobs" component={JobsPage} />
              <Route path="/jobs/new" component={RunPage} />
              <Route path="/jobs/scheduled/:namespace/:name" component={CronJobPage} />
              <Route path="/jobs/:namespace/:name" component={JobPage} />
              <Route path="/values" component={ValuesPage} />
              <Route path="/values/new" component={NewValuesPage} />
              <Route path="/values/:namespace/:name" component={ValuesObjectPage} />
              <Route path="/services" component={ServicesPage} />
              <Route path="/services/:namespace/:name" component={ServicePage} />
              <Route path="/resources" component={KindsPage} />
              <Route path="/resources/:group/:version/:resource" component={ObjectsPage} />
              <Route path="/resources/:group/:version/:resource/:namespace/:name" component={ObjectPage} />
              <Route path="/calendar" component={CalendarPage} />
              <Route path="/onboarding" component={OnboardingPage} />
              <Route path="/coordinators" component={CoordinatorsPage} />
              <Route path="/audit" component={AuditPage} />
              <Route component={NotFoundPage} />
            </Switch>
          </PageFrame>
        </ConsoleShell>
        <ErrorBoundary isQuiet>
          <KeyboardShortcuts />
        </ErrorBoundary>
        <ErrorBoundary isQuiet>
          <FleetAttention />
        </ErrorBoundary>
        <ExplanationPopup />
      </SignInGate>
    </Router>
  );
}

const root = document.getElementById('root');
if (!root) throw new Error('the page lacks the element #root');
protectUnsavedEdits();
watchHistory();
// React would also print the error, which the page shows.
const onCaughtError = () => undefined;
await Promise.all([loadMissingStyles(), loadStoredLanguage()]);
createRoot(root, { onCaughtError }).render(
  <StrictMode>
    <Console />
  </StrictMode>,
);
