/** A schema that takes every value as it is: a bench does not measure a validator. */
export const anything = { '~standard': { version: 1, vendor: 'bench', validate: (value: unknown) => ({ value }) } } as const
