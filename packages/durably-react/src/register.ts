// Register — where a program declares its jobs, once, so that every hook knows their names, inputs and outputs.
import type { AnyJobs, Jobs } from '@coji/durably/client'

/**
 * Extend this interface to give the hooks the names, inputs and outputs of your jobs.
 *
 * @example
 * declare module '@coji/durably-react' {
 *   interface Register {
 *     jobs: typeof jobs
 *   }
 * }
 */
// biome-ignore lint/suspicious/noEmptyInterface: a program adds to it
export interface Register {}

/** The jobs that you declared in `Register`; any jobs if you declared none. */
export type RegisteredJobs = Register extends { readonly jobs: infer TJobs extends Jobs } ? TJobs : AnyJobs
