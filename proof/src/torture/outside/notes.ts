// What the processes of the outside workload write into the ledger besides what their functions did.
export type OutsideNote =
  | { kind: 'calls sleep'; runId: string; step: string; ms: number }
  | { kind: 'awake'; runId: string; step: string }
  /** What became of a signal that was sent: `accepted`, or the code of the error. */
  | { kind: 'signal'; runId: string; key: string; value: string; answer: string }
  /** `reconcile` or a decision said that the effect did not take place, or that it did. */
  | { kind: 'reconciled'; runId: string; step: string; wasNot: boolean }
  /** The effect itself, in the world outside. */
  | TookPlace
  /** An attempt to write a letter, which goes on after `given`. */
  | { kind: 'letter'; attempt: string; runId: string; given: string; calledAt: number; stillMs: number }
  | { kind: 'line'; attempt: string; text: string }
  /** Everything up to here, the line before included, asked for and then acknowledged. */
  | { kind: 'asks for checkpoint' | 'has checkpoint'; attempt: string; text: string }
  /** A subscriber was cut off, or has seen the end. */
  | { kind: 'sees'; runId: string; text: string; isDone: boolean; output: unknown }
  | { kind: 'clock'; offsetMs: number }

export interface TookPlace {
  kind: 'took place'
  runId: string
  step: string
  value: string
}
