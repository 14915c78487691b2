/** What the words of a reason are made of. */

/** What the reason is about. */
export interface ReasonSubject {
  namespace: string;
  daemonSet: string;
  node: string;
}

/** What of a sentence depends on the code. `does` stands before the node's name. */
export interface ReasonMessage {
  phrase: string;
  /** What to do; `pod` is the name of the Pod that the reason names, "" without one. */
  advice(subject: ReasonSubject, pod: string): string;
}
