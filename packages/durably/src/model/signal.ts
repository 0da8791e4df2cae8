// Signal — a value that is sent to a run from outside. It is kept until the run asks for it.
export interface SignalRow {
  /** Chosen by the sender: a signal that is sent again has the same id. */
  id: string
  runId: string
  name: string
  /** Encoded. */
  value: string | null
  createdAt: string
}
