/** Link events for the component that renews the host's certificate. */
import type { CertificateIssued } from '../../shared/link/messages/link-messages.js';

export interface LinkCertificateHandler {
  /**
   * Called when the link is live and whenever the hub's clock was set. `serverTimeMs` is that clock. `ask` requests a
   * certificate; undefined if the hub issues none.
   */
  onLive(serverTimeMs: number, ask: ((csr: string) => void) | undefined): void;
  onLost(): void;
  /** Called with a new certificate or new authorities from the hub. */
  onCertified(message: CertificateIssued): void;
  /** Called if the hub rejected the host's certificate. `again` reconnects without delay. */
  onRefused(again: () => void): void;
}
