/** Shows what went wrong in a page instead of an empty window. */
import { Component, type ReactNode } from 'react';
import { t } from '../../texts/translate.js';
import controls from '../controls.module.css';
import { Page } from './page.js';

type State = { failed: false } | { failed: true; message: string };

interface ErrorBoundaryProps {
  children: ReactNode;
  /** Shows nothing instead of what has failed: it stands next to a page that still works. */
  isQuiet?: boolean;
}

/** Give it another `key` for each page, so that a failed page does not hide the next one. */
export class ErrorBoundary extends Component<ErrorBoundaryProps, State> {
  override state: State = { failed: false };

  static getDerivedStateFromError(error: unknown): State {
    return { failed: true, message: error instanceof Error ? error.message : String(error) };
  }

  override render(): ReactNode {
    if (!this.state.failed) return this.props.children;
    if (this.props.isQuiet) return null;
    return (
      <Page title="Error">
        <h1>{t('This page has failed')}</h1>
        <p role="alert">{this.state.message}</p>
        <p>{t('The fleet is not affected. Other pages may still work.')}</p>
        <button type="button" className={controls.button} data-main onClick={() => location.reload()}>
          {t('Load the page again')}
        </button>
      </Page>
    );
  }
}
