/** Decisions about effects are kept as signals; nobody else may use these names. */
export const DECISION_PREFIX = 'decision/'

/** One for each start: a decision about the first says nothing about the second. */
export function decisionName(stepName: string, generation: number): string {
  return `${DECISION_PREFIX}${generation}/${stepName}`
}

/** The step that a decision is about; `undefined` for the name of another signal. */
export function decidedStep(name: string): string | undefined {
  return name.startsWith(DECISION_PREFIX) ? name.slice(name.indexOf('/', DECISION_PREFIX.length) + 1) : undefined
}
