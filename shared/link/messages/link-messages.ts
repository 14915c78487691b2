/**
 * The messages and limits of the agent link, with one file for each topic. Transport: WebSocket over TLS at `/link`,
 * subprotocol `everynode.v1`, one msgpack map in each binary frame. `hostTimeMs` is the host's wall clock at the
 * agent's start plus elapsed monotonic time, so it never jumps. Unknown fields are ignored. A new kind of message is
 * only sent if both ends named its feature.
 */

import type { Applied, Desired, PrefetchImages, ReturnRequest } from './desired-messages.js';
import type { EventsReport, MetersReport, StatusAck, StatusReport } from './report-messages.js';
import type { EndpointChanges, ServiceInterest, ServiceViews } from './service-messages.js';
import type {
  CertificateIssued,
  ClockChange,
  CoordinatorsChange,
  Goodbye,
  HeartbeatConfigChange,
  Hello,
  RenewCertificate,
  RequestServing,
  ServingIssued,
  Welcome,
} from './session-messages.js';
import type {
  StreamArrived,
  StreamClose,
  StreamCredit,
  StreamData,
  StreamOpen,
  StreamStarted,
} from './stream-messages.js';

export * from './desired-messages.js';
export * from './join-messages.js';
export * from './link-limits.js';
export * from './report-messages.js';
export * from './service-messages.js';
export * from './session-messages.js';
export * from './stream-messages.js';

export type FromAgent =
  | Hello
  | Applied
  | StatusReport
  | EventsReport
  | MetersReport
  | RenewCertificate
  | RequestServing
  | ServiceInterest
  | StreamStarted
  | StreamData
  | StreamArrived
  | StreamCredit
  | StreamClose;

export type FromHub =
  | Welcome
  | HeartbeatConfigChange
  | ClockChange
  | CoordinatorsChange
  | Desired
  | ReturnRequest
  | PrefetchImages
  | StatusAck
  | Goodbye
  | CertificateIssued
  | ServingIssued
  | ServiceViews
  | EndpointChanges
  | StreamOpen
  | StreamData
  | StreamArrived
  | StreamCredit
  | StreamClose;
