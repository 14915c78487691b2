/**
 * Every message of the agent link and every limit: the protocol's only definition, one file a topic.
 * WebSocket over TLS at `/link`, subprotocol `everynode.v1`, one msgpack map a binary frame.
 * The host's steady clock is its wall clock when the agent started plus monotonic time since: it never jumps.
 * Within a version unknown fields are ignored; new message kinds are sent only after both ends named the feature.
 */
import type { CertificateIssued, RenewCertificate } from './certificate-messages.js';
import type { Applied, Desired, PinnedImages, ReturnRequest } from './desired-messages.js';
import type { EventsReport, MetersReport, StatusAck, StatusReport } from './report-messages.js';
import type { ClockChange, Goodbye, HeartbeatConfigChange, Hello, Welcome } from './session-messages.js';
import type {
  StreamArrived,
  StreamClose,
  StreamCredit,
  StreamData,
  StreamOpen,
  StreamStarted,
} from './stream-messages.js';

export * from './certificate-messages.js';
export * from './desired-messages.js';
export * from './join-messages.js';
export * from './link-limits.js';
export * from './report-messages.js';
export * from './session-messages.js';
export * from './stream-messages.js';

export type FromAgent =
  | Hello
  | Applied
  | StatusReport
  | EventsReport
  | MetersReport
  | RenewCertificate
  | StreamStarted
  | StreamData
  | StreamArrived
  | StreamCredit
  | StreamClose;

export type FromHub =
  | Welcome
  | HeartbeatConfigChange
  | ClockChange
  | Desired
  | ReturnRequest
  | PinnedImages
  | StatusAck
  | Goodbye
  | CertificateIssued
  | StreamOpen
  | StreamData
  | StreamArrived
  | StreamCredit
  | StreamClose;
