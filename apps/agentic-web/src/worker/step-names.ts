// The names of the steps of a run. They are stored, and the page gets those of models and tools as `step_id`: do not change them while there
// are unfinished runs.

export const PREPARE = 'prepare'
export const BEGIN = 'begin'

/** `call` counts the calls of the model from 0, `attempt` the attempts of each from 1. */
export const modelStep = (call: number, attempt: number) => `model-${call}-${attempt}`
export const toolStep = (call: number, index: number) => `tool-${call}-${index}`
/** Somebody is asked whether the tool may work; the answer is a signal of this name. */
export const askStep = (step: string) => `ask-${step}`
export const approvalSignal = (step: string) => `approve-${step}`
export const saveStep = (step: string) => `save-${step}`

/** Undefined for steps that the page does not see. */
export function shownStep(name: string): { kind: 'model' | 'tool'; call: number } | undefined {
  const [, kind, call] = /^(model|tool)-(\d+)-\d+$/.exec(name) ?? []
  return kind === 'model' || kind === 'tool' ? { kind, call: Number(call) } : undefined
}

/** The step of the tool that a question or a decision is about. */
export function approvedStep(name: string): { of: 'question' | 'decision'; step: string } | undefined {
  const [, kind, step] = /^(ask|approve)-(tool-\d+-\d+)$/.exec(name) ?? []
  return step === undefined ? undefined : { of: kind === 'ask' ? 'question' : 'decision', step }
}
