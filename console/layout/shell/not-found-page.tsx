/** Page for unknown URLs. */
import { Link } from 'wouter';
import { t } from '../../texts/translate.js';
import { Page } from './page.js';

export function NotFoundPage() {
  return (
    <Page title="Page not found">
      <h1>{t('Page not found')}</h1>
      <p>
        {t('The URL is wrong, or the object was removed.')} <Link href="/">{t('Go to the overview')}</Link>
      </p>
    </Page>
  );
}
