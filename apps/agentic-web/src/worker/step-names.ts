// The names of the steps of a run. They are stored, and the page gets those of models and tools as `step_id`: do not change them while there
// are unfinished runs.

export const PREPARE = 'prepare'
export const BEGIN = 'begin'

/** `call` counts the calls of the model from 0, `attempt` the attempts of each from 1. */
export const modelStep = (call: number, attempt: number) => `model-${call}-${attempt}`
export const toolStep = (call: number, index: number) => `tool-${call}-${index}`
export const saveStep = (step: string) => `save-${step}`

/** Undefined for steps that the page does not see. */
export function shownStep(name: string): { kind: 'model' | 'tool'; call: number } | undefined {
  const [, kind, call] = /^(model|tool)-(\d+)-\d+$/.exec(name) ?? []
  return kind === 'model' || kind === 'tool' ? { kind, call: Number(call) } : undefined
}
