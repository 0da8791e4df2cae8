// Signal — a value that is sent to a run from outside. It is kept until the run asks for it.
import type { StandardSchemaV1 } from '@standard-schema/spec'

/** The signals that a job declares: their names, and what they must look like. */
export type Signals = { readonly [name: string]: StandardSchemaV1 }

export interface SignalRow {
  /** Chosen by the sender: a signal that is sent again has the same id. */
  id: string
  runId: string
  name: string
  /** Encoded. */
  value: string | null
  createdAt: string
}

/** The arguments that send one of these signals: its name, and a value that fits. */
export type SignalArguments<TSignals extends Signals, TOptions> = {
  [TName in keyof TSignals & string]: [runId: string, name: TName, value: StandardSchemaV1.InferInput<TSignals[TName]>, options?: TOptions]
}[keyof TSignals & string]

/** A signal that was sent to a run. */
export interface SentSignal {
  name: string
  value: unknown
  createdAt: string
  /** The run has got it from `ctx.waitFor`. False: it has not asked for it yet, asked for another name, or had stopped waiting. */
  received: boolean
}
