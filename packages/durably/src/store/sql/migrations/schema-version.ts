/** How many migrations there are. A number of its own, so that a database that is up to date does not load them (ADR 0009). */
export const SCHEMA_VERSION = 19
