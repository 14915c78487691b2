/** What the link needs of whoever keeps the host's certificate. */
import type { CertificateIssued } from '../../shared/link/messages/link-messages.js';

export interface LinkCertificateHandler {
  /** The link lives, or the hub's clock was set while it does. `serverTimeMs` is that clock; `ask` sends a request for a new certificate, where the hub takes any. */
  onLive(serverTimeMs: number, ask: ((csr: string) => void) | undefined): void;
  /** The link broke. */
  onLost(): void;
  /** What the hub says of certificates and authorities. */
  onCertified(message: CertificateIssued): void;
  /** The hub does not know the host by what it shows. `again` connects without waiting. */
  onRefused(again: () => void): void;
}
