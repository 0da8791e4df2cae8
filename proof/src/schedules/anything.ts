/** The schema of a job that takes any input. */
export const anything = { '~standard': { version: 1, vendor: 'proof', validate: (value: unknown) => ({ value }) } } as const
