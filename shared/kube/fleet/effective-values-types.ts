/**
 * `GET …/effectivevalues`, for all namespaces or one: what HostValues give to hosts. Computed, never stored. Values in
 * Secrets are references.
 */
import type { HostValue } from '../host-values/host-values-types.js';

/** A value that one HostValues object gives a host. */
export interface GivenValue {
  /** Name of the HostValues object. */
  from: string;
  priority: number;
  /** True if the object names the host, false if it selects the host by labels. */
  isNamed: boolean;
  value: HostValue;
}

/** One key of one host. */
export type EffectiveValue = { namespace: string; key: string } & (
  | { state: 'Effective'; value: HostValue; from: string; overridden: readonly GivenValue[] }
  /** Two objects contradict each other. A Pod that uses the key is not created. */
  | { state: 'Conflict'; message: string; given: readonly GivenValue[] }
);

/** `?node=NODE`: the values of one host. */
export interface ValuesOfHost {
  node: string;
  values: readonly EffectiveValue[];
}

/** Hosts with the same value of a key. */
export interface ValueGroup {
  namespace: string;
  value: HostValue;
  /** Objects that the value comes from. */
  from: readonly string[];
  count: number;
  /** The first names. */
  nodes: readonly string[];
}

/** `?key=KEY`, optionally with `&value=TEXT`: the hosts by their value of one key. */
export interface HostsByValue {
  key: string;
  /** Most frequent first. */
  groups: readonly ValueGroup[];
  /** Groups that are left out, because there are too many values. */
  moreGroups: number;
  /** Hosts for which two objects contradict each other. */
  conflicts: { count: number; nodes: readonly string[]; message?: string };
  /** Hosts without a value. Counted only if one namespace is requested. */
  missing: { count: number; nodes: readonly string[] };
}

/** Without parameters: for how many hosts each object and each key counts. */
export interface ValueCounts {
  /** All hosts of the fleet. */
  hosts: number;
  objects: readonly { namespace: string; name: string; hosts: number }[];
  keys: readonly { namespace: string; key: string; hosts: number }[];
}
