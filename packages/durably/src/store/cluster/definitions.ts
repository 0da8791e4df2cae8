// What workers say about their jobs, for processes that do not have the code.

/** The definitions of jobs. */
export interface DefinitionStore {
  /** The definitions that match, by name. */
  findDefinitions(query: DefinitionQuery): Promise<DefinitionRow[]>
  /** Stores definitions. One that is the same already is not written. */
  putDefinitions(definitions: readonly NewDefinition[]): Promise<void>
  /** Removes a definition; false if there is none. */
  deleteDefinition(name: string): Promise<boolean>
}

/** Which definitions are wanted. */
export interface DefinitionQuery {
  /** Only of these jobs. */
  names?: readonly string[]
  /** Only of jobs that subscribe to events. */
  subscribed?: boolean
  /** Only those that come after this name. */
  after?: string
  /** How many at most. */
  limit: number
}

/** What a worker says about a job. */
export interface NewDefinition {
  /** The name of the job. */
  name: string
  /** The JSON Schema of its input, as JSON; null if there is none. */
  input: string | null
  /** The events that it subscribes to, as JSON; null for none. */
  subscriptions: string | null
}

/** The definition of a job, as a store keeps it. */
export interface DefinitionRow extends NewDefinition {
  /** Grows with every change. */
  version: number
  /** When it was last changed, in milliseconds since 1970. */
  updatedAt: number
}
