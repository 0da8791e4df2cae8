// Signal — a value that is sent to a run from outside. It is kept until the run asks for it.
import type { StandardSchemaV1 } from '@standard-schema/spec'

/** The signals that a job declares: their names, and what they must look like. */
export type Signals = { readonly [name: string]: StandardSchemaV1 }

/** A signal as a store keeps it. */
export interface SignalRow {
  /** Chosen by the sender: a signal that is sent again has the same id. */
  id: string
  /** The run that it was sent to. */
  runId: string
  /** The name under which the run waits for it. */
  name: string
  /** The value, encoded. */
  value: string | null
  /** When it was sent, as ISO-8601 text. */
  createdAt: string
}

/** The arguments that send one of these signals: its name, and a value that fits. */
export type SignalArguments<TSignals extends Signals, TOptions> = {
  [TName in keyof TSignals & string]: [runId: string, name: TName, value: StandardSchemaV1.InferInput<TSignals[TName]>, options?: TOptions]
}[keyof TSignals & string]

/** A signal that was sent to a run. */
export interface SentSignal {
  /** The name under which it was sent. */
  name: string
  /** The value that was sent. */
  value: unknown
  /** When it was sent, as ISO-8601 text. */
  createdAt: string
  /**
   * Whether the run has got it from `ctx.waitFor`. False: the run has not waited for this name, or not yet, or had already stopped waiting.
   */
  received: boolean
}
